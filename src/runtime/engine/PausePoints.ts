/**
 * Named points of the commit path where a test can stop or kill the process: no-ops by default.
 * A point is passed synchronously; a trigger that never returns (SIGKILL to itself) crashes exactly there.
 */
export const pausePoints = ["after-claim", "after-decide", "before-commit", "after-commit"] as const
/**
 * Points of a key rotation, a screening pass, the keying of persons, a statement job, the build of a statement, and a reset of a
 * sandbox (requested, or with its venue gone and its database not). The process passes them rarely, so random crash runs leave
 * them out.
 */
export const rarePoints = [
  "key-written",
  "values-resealed",
  "clients-judged",
  "persons-keyed",
  "models-written",
  "piece-written",
  "reset-asked",
  "venue-emptied"
] as const
/**
 * Points of a call of the venue: about to leave, answered or given up, and its end decided but not committed, whichever way
 * the end was heard of. Only requests that call the venue pass them.
 */
export const callPoints = ["before-call", "after-call", "before-result"] as const
export type CallPoint = (typeof callPoints)[number]
/** Points of the venue's events: all of them up to some number are committed, and that they are is not kept yet. */
export const eventPoints = ["before-cursor"] as const
export type EventPoint = (typeof eventPoints)[number]
export type PausePoint = (typeof pausePoints)[number] | (typeof rarePoints)[number] | CallPoint | EventPoint

/** Whose commits pass a point, where that is known: of a batch all that are in it. */
export type Passing = () => ReadonlyArray<string>

const triggers = new Map<PausePoint, (subjects: Passing) => void>()

/** Installs (or, with null, removes) what happens at a point. */
export const setPauseTrigger = (point: PausePoint, trigger: ((subjects: Passing) => void) | null): void => {
  if (trigger === null) triggers.delete(point)
  else triggers.set(point, trigger)
}

const ofNobody: Passing = () => []

export const passPausePoint = (point: PausePoint, subjects = ofNobody): void => triggers.get(point)?.(subjects)
