#!/usr/bin/env python3
"""The oracles of bench_oracles through PyTorch, on the same arrays and in the same run, as ratios to row terms.

    apt-get install python3-torch libopenblas0   (Debian; any PyTorch >= 1.13 will do, with a fast BLAS)
    /usr/bin/python3 tests/benchmarks/bench_peer_torch.py build/release/bin/bench_oracles [--quick] [--json FILE]

Run it alone on the machine. OpenBLAS 0.3.21 does not know processors younger than itself: OPENBLAS_CORETYPE=SKYLAKEX or
HASWELL tells it what to take them for. Without that variable set, this program runs itself with each and as it is
installed, and takes the fastest.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def median(values):
    return sorted(values)[len(values) // 2]


def milliseconds(repeats, call):
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begin))
    return median(times)


def hypergradient(torch, lower, upper, x, y0, step):
    """50 accelerated gradient steps, 10 conjugate gradient steps, one Jacobian product, one grad f."""
    y = y0.clone()
    z = y.clone()
    for _ in range(50):
        z.requires_grad_(True)
        (gradient,) = torch.autograd.grad(lower(x, z), z)
        z = z.detach()
        previous, y = y, z - step * gradient
        z = y + 0.9 * (y - previous)
    y.requires_grad_(True)
    x.requires_grad_(True)
    (b,) = torch.autograd.grad(upper(y), y)
    (gradient,) = torch.autograd.grad(lower(x, y), y, create_graph=True)

    def product(v):
        return torch.autograd.grad(gradient, y, v, retain_graph=True)[0]

    v = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    rr = (r * r).sum()
    for _ in range(10):
        ap = product(p)
        a = rr / (p * ap).sum()
        v += a * p
        r -= a * ap
        rr_next = (r * r).sum()
        p = r + (rr_next / rr) * p
        rr = rr_next
    (jacobian,) = torch.autograd.grad(gradient, x, v)
    return -jacobian


def measure_problem(torch, lower, upper, x, y, step, repeats):
    times = {}

    def gradient():
        y.requires_grad_(True)
        return torch.autograd.grad(lower(x, y), y)[0]

    times["gradient"] = milliseconds(repeats, gradient)
    v = torch.ones_like(y)
    x.requires_grad_(True)
    y.requires_grad_(True)
    (g,) = torch.autograd.grad(lower(x, y), y, create_graph=True)
    times["hessian_product"] = milliseconds(repeats, lambda: torch.autograd.grad(g, y, v, retain_graph=True))

    def jacobian():
        (h,) = torch.autograd.grad(lower(x, y), y, create_graph=True)
        return torch.autograd.grad(h, x, v)

    times["jacobian_product"] = milliseconds(repeats, jacobian)
    del g
    x, y = x.detach(), y.detach()
    if upper is not None:
        times["hypergradient"] = milliseconds(
            max(1, repeats // 8), lambda: hypergradient(torch, lower, upper, x.detach(), 0 * y, step)
        )
    return times


def child(folder, repeats):
    """Times every oracle with the BLAS setting of the environment; prints them as JSON."""
    import numpy
    import torch
    import torch.nn.functional as F

    def read(name, kind):
        return numpy.fromfile(os.path.join(folder, name), dtype=kind)

    label = torch.from_numpy(read("dense_label.i32", "int32").astype("int64"))
    valid = torch.from_numpy(read("dense_valid.i32", "int32").astype("int64"))
    X64 = torch.from_numpy(read("dense_x.f64", "float64").reshape(len(label), -1))
    V64 = torch.from_numpy(read("dense_v.f64", "float64").reshape(len(valid), -1))
    rows = read("sparse_rows.i32", "int32").astype("int64")
    columns = read("sparse_columns.i32", "int32").astype("int64")
    values = read("sparse_values.f64", "float64")
    slabel = torch.from_numpy(read("sparse_label.i32", "int32").astype("int64"))
    p = 130107

    out = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for name, kind in (("double", torch.float64), ("float", torch.float32)):
            X, V = X64.to(kind), V64.to(kind)

            def lower(x, W):
                losses = F.cross_entropy(X @ W.T, label, reduction="none")
                return (torch.sigmoid(x) * losses).mean() + 1e-3 * (W * W).sum()

            def upper(W):
                return F.cross_entropy(V @ W.T, valid)

            torch.manual_seed(1)
            x = 0.3 * torch.randn(len(label), dtype=kind)
            W = 0.05 * torch.randn(10, X.shape[1], dtype=kind)
            times = measure_problem(torch, lower, upper, x, W, 0.01, repeats)
            out.setdefault("dense", {}).setdefault(str(threads), {})[name] = times

        S = torch.sparse_csr_tensor(torch.from_numpy(rows), torch.from_numpy(columns), torch.from_numpy(values),
                                    size=(len(slabel), p))
        # PyTorch differentiates products with sparse matrices in coordinate form.
        C = S.to_sparse_coo().coalesce() if hasattr(S, "to_sparse_coo") else S.to_sparse().coalesce()

        def lower_sparse(x, W):
            penalty = (torch.exp(x) * (W * W).sum(1)).sum() * (0.5 / (20 * p))
            return F.cross_entropy(torch.sparse.mm(C, W), slabel) + penalty

        def gradient(W=torch.zeros(p, 20, dtype=torch.float64), x=torch.zeros(p, dtype=torch.float64)):
            W.requires_grad_(True)
            return torch.autograd.grad(lower_sparse(x, W), W)

        out.setdefault("sparse", {}).setdefault(str(threads), {})["double"] = {
            "gradient": milliseconds(max(3, repeats // 3), gradient)
        }
    print(json.dumps(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench_oracles", help="the program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    repeats = 5 if arguments.quick else 15
    if arguments.child:
        return child(arguments.child, repeats)

    with tempfile.TemporaryDirectory() as folder:
        ours_file = os.path.join(folder, "ours.json")
        command = [arguments.bench_oracles, "--dump", folder, "--json", ours_file] + ["--quick"] * arguments.quick
        subprocess.run(command, check=True)
        with open(ours_file) as file:
            report_of_ours = json.load(file)
            ours = report_of_ours["ms"][report_of_ours["default_instructions"]]
        best = {}
        settings = ["SKYLAKEX", "HASWELL", ""] if "OPENBLAS_CORETYPE" not in os.environ else [os.environ["OPENBLAS_CORETYPE"]]
        for core in settings:
            environment = dict(os.environ)
            if core:
                environment["OPENBLAS_CORETYPE"] = core
            command = [sys.executable, __file__, arguments.bench_oracles, "--child", folder] + ["--quick"] * arguments.quick
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
            for problem, by_threads in json.loads(done.stdout).items():
                for threads, by_kind in by_threads.items():
                    for kind, times in by_kind.items():
                        for name, ms in times.items():
                            key = (problem, threads, kind, name)
                            if key not in best or ms < best[key][0]:
                                best[key] = (ms, core or "as installed")

    report = {}
    print("PyTorch at its best BLAS setting, and how many times the row terms' time that is")
    for (problem, threads, kind, name), (ms, core) in sorted(best.items()):
        ratio = ms / ours[problem][threads][name]
        held = ms / ours["dense_held_sparse"][threads][name] if problem == "dense" else None
        extra = f", {held:.1f}x with rows held sparse" if held else ""
        print(f"  {problem:7s} {threads} thread(s) {kind:7s} {name:17s} {ms:9.2f} ms ({core}): {ratio:.1f}x{extra}")
        report.setdefault(problem, {}).setdefault(threads, {}).setdefault(kind, {})[name] = ratio
    if arguments.json:
        with open(arguments.json, "x") as file:
            json.dump(report, file, indent=2)


if __name__ == "__main__":
    main()
