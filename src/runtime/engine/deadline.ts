/**
 * A deadline for answers that come over a socket. A process that continues after a pause runs its due timers before it reads its
 * sockets. So a due deadline first waits some turns of the event loop, in which an answer that has already arrived can come
 * through. After a long pause the work gets another second, but only once, so that a process that is starved repeatedly still
 * times out.
 */

/** The turns of the event loop that an answer needs from its socket to the waiting fiber. */
const turnsOfAnswer = 4

/** A timer that fires later than this shows that the process was paused or starved, wall ms. */
const pausedMillis = 500

/** How long the work may still take after such a pause, wall ms. */
const afterPauseMillis = 1_000

/** Calls `late` after `millis` of wall time. The returned function cancels that. */
export const deadline = (millis: number, late: () => void): (() => void) => {
  const due = performance.now() + millis
  let cancel = (): void => clearTimeout(timer)
  const timer = setTimeout(() => (cancel = settle(due, late)), millis)
  return () => cancel()
}

/**
 * Handles a deadline whose timer has fired. `due`: the time for which the timer was set, by `performance.now()`. A late
 * timer shows a pause.
 */
const settle = (due: number, late: () => void): (() => void) =>
  performance.now() < due + pausedMillis ? afterTurns(turnsOfAnswer, late) : extended(late)

const extended = (late: () => void): (() => void) => {
  let cancel = (): void => clearTimeout(timer)
  const timer = setTimeout(() => (cancel = afterTurns(turnsOfAnswer, late)), afterPauseMillis)
  return () => cancel()
}

const afterTurns = (turns: number, act: () => void): (() => void) => {
  let cancel = (): void => clearImmediate(turn)
  const turn = setImmediate(() => {
    if (turns > 1) cancel = afterTurns(turns - 1, act)
    else act()
  })
  return () => cancel()
}
