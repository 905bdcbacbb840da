/**
 * Screens a client again, because the list, the rules or the client's name may have changed since compliance reviewed
 * it. A candidate that compliance has not seen in its present form is never cleared (doc 1, Rules of POST /clients 6;
 * F26).
 */
import type { Json, JsonObject } from "../../../../machines/shared/Json.ts"
import type { CaseReason } from "../../../../machines/compliance/Case.ts"
import {
  type Found,
  isNoWorse,
  outcomeOf,
  type ScreenedPerson,
  type ScreeningCandidate,
  type ScreeningResult,
  type Settled
} from "../../../../machines/screening/screen.ts"
import { isRecord } from "../../../../machines/shared/Fields.ts"
import { cleanText, plural } from "../../../../machines/shared/Text.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { Instance } from "../../../effects/Instance.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { CaseRow } from "../../../tables/compliance.ts"
import { clearedFor } from "../../screening/dispositions.ts"
import { advance } from "../../../effects/advance.ts"

/** A screening against the present list and rules. It omits the candidates that compliance need not review. */
export interface ScreenedAgain extends ScreeningResult {
  readonly listVersion: number
  readonly listVersions: Readonly<Record<string, string>>
}

/** The screening of a clearance. The result contains only candidates that compliance has not seen; `found` contains all. */
export interface Rescreening extends ScreenedAgain {
  /** All entries with a score at or above their threshold for the client's present name. */
  readonly found: ReadonlyArray<Found>
  /** Fingerprint of the identity that was screened. */
  readonly identityKey: string
}

/** The screening candidates in a case's details; empty for a case without a screening result. */
export const candidatesOf = ({ details }: CaseRow): ReadonlyArray<ScreeningCandidate> => {
  const { candidates } = details as { readonly candidates?: ReadonlyArray<ScreeningCandidate> }
  return candidates ?? []
}

/** The candidates that open cases show. */
export const shownCandidates = (state: SubjectState): ReadonlyArray<ScreeningCandidate> =>
  state.all("cases").flatMap(candidatesOf)

/** A candidate of a case, with its outcome. */
export const withOutcome = (shown: ScreeningCandidate): Found => ({
  ...shown,
  outcome: outcomeOf(shown.list, shown.score, shown.nameScore)
})

/**
 * The candidates that compliance has seen for a client of this identity: it has cleared them, or an open case shows
 * them with at least the same closeness of the match.
 */
export const seenBy = (cleared: Settled, shown: ReadonlyArray<ScreeningCandidate>): Settled => {
  const byEntry = Map.groupBy(shown, ({ entryId }) => entryId)
  return {
    has: (entryId, pair) =>
      cleared.has(entryId, pair) || (byEntry.get(entryId) ?? []).some((each) => isNoWorse(pair, withOutcome(each)))
  }
}

/** `seenBy` with the rows of a client's mailbox. */
export const seenFor = (state: SubjectState, identityKey: string): Settled =>
  seenBy(clearedFor(state.all("dispositions"), identityKey), shownCandidates(state))

/** A finding of a later screening, for the case that will show it. */
export interface LaterFinding extends ScreeningResult {
  readonly screeningRunId: number
}

/**
 * Adds a later finding to a case: new candidates, present scores of known ones, and the run. If it is a hit, the reason
 * of the case changes. No new case opens, so the partner gets no notification; the case's machine writes the audit
 * (D1).
 */
export const noteFinding = (turn: Turn, instance: Instance, open: CaseRow, later: LaterFinding): void => {
  const { outcome, candidates, screeningRunId } = later
  const count = plural(candidates.length, "candidate")
  const note = `screening run ${screeningRunId}, ${outcome}: ${count} new or worse than shown`
  const known = new Set(candidates.map(({ entryId }) => entryId))
  const shown = [...candidatesOf(open).filter(({ entryId }) => !known.has(entryId)), ...candidates]
  const reasons = reasonsAfter(open, outcome)
  const details: JsonObject = { ...open.details, reasons, screeningRunId, candidates: shown }
  const set = { reason: reasons[0] ?? open.reason, details }
  const noted = advance(turn, "cases", open, { type: "NOTE", at: turn.now, note }, { of: instance, set })
  if (noted === null) throw new Error("an open case refused a note")
}

/**
 * The part of a screening that needs a case. If no case holds the client, this is the whole result. Otherwise it is the
 * unseen part, and only if it has an entry that no case shows (A1-34, A1-35). `screened` omits candidates that
 * compliance has cleared. `unseen` also omits those that open cases show with at least the same closeness of the match.
 */
export const newFinding = (
  isHeld: boolean,
  shown: ReadonlyArray<ScreeningCandidate>,
  screened: ScreeningResult,
  unseen: ScreeningResult
): ScreeningResult | null => {
  if (screened.outcome === "CLEAR") return null
  if (!isHeld) return screened
  const known = new Set(shown.map(({ entryId }) => entryId))
  return unseen.candidates.every(({ entryId }) => known.has(entryId)) ? null : unseen
}

/**
 * If a case shows one of the later candidates, notes on the newest such case that the candidate matches more closely
 * now.
 */
export const noteWorse = (turn: Turn, instance: Instance, later: LaterFinding): void => {
  const worse = new Set(later.candidates.map(({ entryId }) => entryId))
  const showing = turn.state
    .all("cases")
    .toSorted((a, b) => a.id - b.id)
    .findLast((row) => candidatesOf(row).some(({ entryId }) => worse.has(entryId)))
  if (showing !== undefined) noteFinding(turn, instance, showing, later)
}

/** The reasons of a case after a further screening. A hit comes first, and replaces weaker screening reasons. */
const reasonsAfter = ({ reason, details }: CaseRow, outcome: ScreeningResult["outcome"]): ReadonlyArray<CaseReason> => {
  const before = ((details as { readonly reasons?: ReadonlyArray<CaseReason> }).reasons ?? [
    reason
  ]) as ReadonlyArray<CaseReason>
  if (outcome === "HIT") {
    const others = before.filter((each) => each !== "SCREENING_HIT" && each !== "SCREENING_POSSIBLE_MATCH")
    return ["SCREENING_HIT", ...others]
  }
  const seen = before.some((each) => each === "SCREENING_HIT" || each === "SCREENING_POSSIBLE_MATCH")
  return seen || outcome === "CLEAR" ? before : [...before, "SCREENING_POSSIBLE_MATCH"]
}

const text = (value: unknown): string => (typeof value === "string" ? cleanText(value) : "")

/** The compared facts of a person, from a stored PERSONAL_INFO section. */
export const screenedPerson = (personalInfo: Json): ScreenedPerson => {
  const section: Readonly<Record<string, unknown>> = isRecord(personalInfo) ? personalInfo : {}
  const { citizenships } = section
  return {
    firstName: text(section["first_name"]),
    middleName: text(section["middle_name"]) || null,
    lastName: text(section["last_name"]),
    dob: text(section["date_of_birth"]) || null,
    nationalities: Array.isArray(citizenships) ? citizenships.map(text) : []
  }
}
