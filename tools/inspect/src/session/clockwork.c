/* SPDX-License-Identifier: MIT */
/* clockwork.c: when the next step may begin. Steps are evenly spaced in time; one that is late
 * moves those after it, so that a slow world does not hurry afterwards. */
#include "clockwork.h"

#include "window_world.h"

static const uint64_t second_ns = UINT64_C(1000000000);

uint32_t weft__pause(weft__session *session, const weft__request *request, weft__wire *out)
{
    session->is_paused = weft__request_is(request, "paused");
    session->steps_left = 0;
    return weft__status_window(session, request, out);
}

uint32_t weft__step(weft__session *session, const weft__request *request, weft__wire *out)
{
    session->is_paused = true;
    session->steps_left += (uint32_t)weft__request_count(request, "count", 1, 10000);
    return weft__status_window(session, request, out);
}

uint32_t weft__speed(weft__session *session, const weft__request *request, weft__wire *out)
{
    double speed = weft__request_number(request, "speed", 0);
    if (!(speed >= 0 && speed <= 1e6))
        return weft__window_fail(out, 422, "a speed is a number of steps a second, 0 to 1e6");
    session->speed = speed < 0.01 ? 0 : speed;
    session->next_step_ns = weft__session_now();
    return weft__status_window(session, request, out);
}

void weft__clockwork_stepped(weft__session *session, uint64_t now_ns)
{
    session->steps_seen++;
    if (session->steps_left != 0) session->steps_left--;
    uint64_t passed = now_ns - session->rate_since_ns;
    if (passed >= second_ns / 2) {
        if (passed < 5 * second_ns)
            session->steps_per_second =
                (double)session->steps_seen * (double)second_ns / (double)passed;
        session->steps_seen = 0;
        session->rate_since_ns = now_ns;
    }
    if (session->speed <= 0) return;
    uint64_t period = (uint64_t)((double)second_ns / session->speed);
    session->next_step_ns += period;
    if (session->next_step_ns + period < now_ns || session->next_step_ns > now_ns + period)
        session->next_step_ns = now_ns + period; /* it was late, or the speed is new */
}

bool weft__clockwork_waits(const weft__session *session, uint64_t now_ns, uint64_t *until_ns)
{
    *until_ns = now_ns + second_ns / 10;
    if (session->is_paused) return session->steps_left == 0;
    if (session->speed <= 0 || now_ns >= session->next_step_ns) return false;
    if (session->next_step_ns < *until_ns) *until_ns = session->next_step_ns;
    return true;
}
