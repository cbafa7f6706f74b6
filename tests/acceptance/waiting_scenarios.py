"""Scenarios that take as long as a test asks for."""


def waiting_scenario(name, hold):
    """Returns a scenario whose worker waits for `hold` in its second step."""
    return ("schema: gauntlet/v2\n"
            f"name: {name}\npreset: tiny\n"
            "job: {epochs: 1, replicas: 1}\n"
            "cluster: {workers: 1}\n"
            "faults:\n"
            "  - id: wait\n"
            "    at: {worker: 0, point: step.begin, step: 2}\n"
            "    do: slow\n"
            f"    with: {{latency: {hold}}}\n"
            "expect: {outcome: completes}\n")


def write_scenarios(run, holds):
    """Writes scenarios by name, each with its wait. Returns their folder."""
    scenarios = run.directory / "scenarios"
    scenarios.mkdir()
    for name, hold in holds.items():
        (scenarios / f"{name}.yaml").write_text(waiting_scenario(name, hold))
    return scenarios
