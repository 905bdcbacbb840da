/**
 * A timer for answers that come over a socket. A process that continues after a pause finds its timers due before it reads its
 * sockets. So an answer that has arrived gets some turns of the event loop to come first, and work that was paused for long gets
 * another second, once: in a process that is starved again and again every deadline passes all the same.
 */

/** Turns of the event loop in which an answer goes from its socket to the fiber that waits for it. */
const turnsOfAnswer = 4

/** A timer that fires later than this shows that the process was paused or starved, wall ms. */
const pausedMillis = 500

/** The time that work then gets to end, wall ms. */
const afterPauseMillis = 1_000

/** Calls `late` after `millis` of wall time, unless the result is called first. */
export const deadline = (millis: number, late: () => void): (() => void) => {
  const due = performance.now() + millis
  let cancel = (): void => clearTimeout(timer)
  const timer = setTimeout(() => (cancel = settle(due, late)), millis)
  return () => cancel()
}

/** The end of a deadline whose timer has fired. `due`: when it had to fire, by `performance.now()`. */
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
