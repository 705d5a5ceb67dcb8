// model_in_cpp.cpp - Taut from C++: handles in std::unique_ptr, errors as exceptions, rows into a
// std::vector.
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Delete {
    void operator()(taut_system *p) const
    {
        taut_system_destroy(p);
    }
    void operator()(taut_options *p) const
    {
        taut_options_destroy(p);
    }
    void operator()(taut_solver *p) const
    {
        taut_solver_destroy(p);
    }
};
template <class T> using Handle = std::unique_ptr<T, Delete>;

static void require(int status, const taut_error &error)
{
    if (status < 0)
        throw std::runtime_error(std::string(taut_code_text(status)) + ": " + error.message);
}

// Calls a function that makes an object: make<taut_system>(taut_system_parse, text, ...).
template <class T, class F, class... Arguments>
static Handle<T> make(F function, Arguments... arguments)
{
    taut_error error{};
    T *object = nullptr;
    require(function(arguments..., &object, &error), error);
    return Handle<T>(object);
}

struct Sample {
    double t, x, energy;
};
// A sink is a C function and a pointer; no exception may leave it.
static int keep(void *user, const taut_row *row, taut_error *)
{
    try {
        static_cast<std::vector<Sample> *>(user)->push_back({row->t, row->q[0], row->energy});
        return 0;
    } catch (...) {
        return TAUT_ERROR_MEMORY;
    }
}
static const std::string model = R"(
# A mass between two springs: x'' = -(k1 + k2) x
[parameters]
k1 = 3
k2 = 1
[coordinates]
x
[bonds]
left = x        stiffness k1
right = -x      stiffness k2
[start]
x = 1
[run]
method = verlet
step = 1e-3
until = 10
every = 2.5
)";

int main()
{
    try {
        auto system =
            make<taut_system>(taut_system_parse, model.data(), model.size(), "springs", nullptr);
        auto options = make<taut_options>(taut_options_create, nullptr);
        auto solver = make<taut_solver>(taut_solver_create, system.get(), options.get(), nullptr);

        std::vector<Sample> samples;
        taut_sink sink{};
        sink.row = keep;
        sink.user = &samples;
        taut_error error{};
        require(taut_solver_run(solver.get(), &sink, 1, nullptr, nullptr, &error), error);

        double worst = 0;
        for (const Sample &s : samples) {
            std::printf("t = %5.2f   x = %9.6f   cos 2t = %9.6f   energy %.9f\n", s.t, s.x,
                        std::cos(2 * s.t), s.energy);
            worst = std::max(worst, std::abs(s.x - std::cos(2 * s.t)));
        }
        std::printf("largest error %.1e\n", worst);
        return samples.size() == 5 && worst < 1e-5 ? 0 : 1;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
