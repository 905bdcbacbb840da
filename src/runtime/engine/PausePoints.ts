/**
 * Named points of the commit path where a test can stop or kill the process: no-ops by default.
 * A point is passed synchronously; a trigger that never returns (SIGKILL to itself) crashes exactly there.
 */
export const pausePoints = ["after-claim", "after-decide", "before-commit", "after-commit"] as const
/**
 * Points of rare operations: key rotation, screening pass, keying of persons, statement job, build of a statement, reset of a
 * sandbox (requested; venue removed but not the database), step of a jump of the clock (stored, not made). Random crash runs leave them out, because the process passes them
 * seldom.
 */
export const rarePoints = [
  "key-written",
  "values-resealed",
  "clients-judged",
  "persons-keyed",
  "models-written",
  "piece-written",
  "reset-asked",
  "venue-emptied",
  "clock-stepped"
] as const
/**
 * Points of a venue call: before it is sent; after it is answered or given up; after its end is decided, by a response or an
 * event, but before the commit. Only requests that call the venue pass them.
 */
export const callPoints = ["before-call", "after-call", "before-result"] as const
export type CallPoint = (typeof callPoints)[number]
/** Points of the venue's events: the events up to some number are committed, but the cursor that records it is not. */
export const eventPoints = ["before-cursor"] as const
export type EventPoint = (typeof eventPoints)[number]
export type PausePoint = (typeof pausePoints)[number] | (typeof rarePoints)[number] | CallPoint | EventPoint

/** The subjects of the commits that pass a point; empty if the point does not know them. For a batch: all its subjects. */
export type Passing = () => ReadonlyArray<string>

const triggers = new Map<PausePoint, (subjects: Passing) => void>()

/** Installs the trigger of a point; null removes it. */
export const setPauseTrigger = (point: PausePoint, trigger: ((subjects: Passing) => void) | null): void => {
  if (trigger === null) triggers.delete(point)
  else triggers.set(point, trigger)
}

const noSubjects: Passing = () => []

export const passPausePoint = (point: PausePoint, subjects = noSubjects): void => triggers.get(point)?.(subjects)
