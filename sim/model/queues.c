#include "model/queues.h"

#include <math.h>

static double load(double lambda, double service_s, int servers)
{
    return lambda * service_s / servers;
}

/* Erlang B by its recurrence, which neither overflows nor cancels, then Erlang C from it. */
double mmc_wait_chance(double lambda, double service_s, int servers)
{
    const double a = lambda * service_s, rho = a / servers;
    double blocked = 1.0;
    if (rho >= 1) return 1.0;
    for (int i = 1; i <= servers; i++) blocked = a * blocked / (i + a * blocked);
    return blocked / (1 - rho * (1 - blocked));
}

double mmc_wait_s(double lambda, double service_s, int servers)
{
    const double rho = load(lambda, service_s, servers);
    if (rho >= 1) return INFINITY;
    return mmc_wait_chance(lambda, service_s, servers) * service_s / (servers * (1 - rho));
}

/* Those who wait, wait exponentially long. */
double mmc_wait_quantile_s(double lambda, double service_s, int servers, double p)
{
    const double rho = load(lambda, service_s, servers),
                 waits = mmc_wait_chance(lambda, service_s, servers);
    if (rho >= 1) return INFINITY;
    if (waits <= 1 - p) return 0;
    return log(waits / (1 - p)) * service_s / (servers * (1 - rho));
}

double mg1_wait_s(double lambda, double service_s, double cv2)
{
    const double rho = lambda * service_s;
    return rho >= 1 ? INFINITY : rho / (1 - rho) * (1 + cv2) / 2 * service_s;
}

double mg1_ps_response_s(double lambda, double service_s)
{
    const double rho = lambda * service_s;
    return rho >= 1 ? INFINITY : service_s / (1 - rho);
}

double mgc_wait_s(double lambda, double service_s, double cv2, int servers)
{
    return mmc_wait_s(lambda, service_s, servers) * (1 + cv2) / 2;
}

struct closed_bounds closed_bounds_of(double users, double think_s, double service_s, int servers)
{
    const double all = users * service_s / servers; /* everyone's work ahead of you */
    return (struct closed_bounds){
        .rate_most = fmin(users / (service_s + think_s), servers / service_s),
        .rate_least = users / (fmax(all, service_s) + think_s),
        .response_least_s = fmax(service_s, all - think_s),
        .response_most_s = fmax(all, service_s),
        .users_at_saturation = (service_s + think_s) * servers / service_s,
    };
}

/* Birth and death: p[k+1] / p[k] = (N - k) / Z x S / min(k + 1, c). Scaled as it grows, so that no
 * number of users overflows. */
double repairman_rate(int users, double think_s, double service_s, int servers)
{
    double p = 1, sum = 1, busy = 0;
    if (think_s <= 0) return fmin(users, servers) / service_s;
    for (int k = 1; k <= users; k++) {
        const int active = k < servers ? k : servers;
        p *= (users - k + 1) / think_s * service_s / active;
        sum += p;
        busy += p * active;
        if (p > 1e200) {
            sum /= p;
            busy /= p;
            p = 1;
        }
    }
    return busy / sum / service_s;
}
