"""10,000 models, runs and states that are dropped leave memory as it was."""
import gc

import taut


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4  # kB


def use(k: int) -> None:
    model = taut.Model("pendulum") if k % 2 else taut.Model.from_functions(lambda t, q, v: -q, 1)
    if k % 100 < 2:
        run = model.solve((0, 0.1), verify="never", every=0.01)
        run.sol(0.05)
        model.at(model.initial()).stepper((0, 1)).step()
    if k % 20 == 1:
        model.parameters["eps"] *= 1


def test_memory_is_flat():
    for k in range(2000):
        use(k)
    gc.collect()
    before = resident()
    for k in range(10000):
        use(k)
    gc.collect()
    grown = resident() - before
    assert grown < 1024, f"{grown} kB after 10,000 models"
