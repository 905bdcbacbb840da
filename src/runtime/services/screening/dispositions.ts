/**
 * Findings of compliance for watch-list entries against one client. A false positive holds for the identity that was
 * judged. For another identity it holds only if the match is no closer than the judged one. Findings are a history, and
 * none ever changes (F26, dispositions).
 */
import { isNoWorse, type JudgedPair, type ScreenedPerson, type Settled } from "../../../machines/screening/screen.ts"
import type { RoleLabel } from "../../../machines/verification/Block.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { DispositionRow } from "../../tables/screening.ts"
import { unreadableEntryId } from "../../../machines/screening/foldName.ts"

/** Input of the identity fingerprint: names, birth date and citizenships. */
export const identityText = ({ firstName, middleName, lastName, dob, nationalities }: ScreenedPerson): string =>
  [firstName, middleName ?? "", lastName, dob ?? "", ...[...new Set(nationalities)].toSorted()]
    .map((part) => part.normalize("NFC").toUpperCase().replaceAll(/\s+/g, " ").trim())
    .join("\u0000")

/** Scores are stored in millionths, rounded up, so that the judged pair never exceeds its own stored score. */
const millionths = (score: number): number => Math.ceil(score * 1_000_000)

/** The pairs that compliance has called false positives, as far as they hold for this identity. */
export const clearedFor = (rows: ReadonlyArray<DispositionRow>, identityKey: string): Settled => {
  const byEntry = Map.groupBy(rows, ({ entryId }) => entryId)
  return {
    has: (entryId, pair) =>
      standing(byEntry.get(entryId) ?? []).some((row) => {
        const judged = pairOf(row)
        if (judged === null) return false
        if (row.identityKey === identityKey) return true
        // A finding on a name that can't be compared holds for that identity only.
        return entryId !== unreadableEntryId && isNoWorse({ ...pair, score: millionths(pair.score) }, judged)
      })
  }
}

/** The findings on one entry after its last true match. */
const standing = (rows: ReadonlyArray<DispositionRow>): ReadonlyArray<DispositionRow> => {
  const inOrder = rows.toSorted((a, b) => a.number - b.number)
  return inOrder.slice(inOrder.findLastIndex(({ disposition }) => disposition === "TRUE_MATCH") + 1)
}

/** The pair that was judged. Null: earlier versions of the service did not store it, so the finding clears nothing. */
const pairOf = ({ outcome, score }: DispositionRow): JudgedPair | null =>
  outcome === null || score === null ? null : { outcome, score }

/** Entries whose last finding is a true match. */
export const trueMatches = (state: SubjectState): ReadonlyArray<number> =>
  [...Map.groupBy(state.all("dispositions"), ({ entryId }) => entryId)].flatMap(([entryId, rows]) =>
    standing(rows).length === 0 ? [entryId] : []
  )

export interface Finding {
  readonly disposition: DispositionRow["disposition"]
  /** Fingerprint of the judged identity; null: only the closeness of the match is known. */
  readonly identityKey: string | null
  readonly pairs: ReadonlyArray<JudgedPair & { readonly entryId: number }>
}

/**
 * Adds a finding for each entry to the client's history. Repeated findings are omitted. A true match of a name that
 * can't be compared is omitted too, because it matches no entry.
 */
export const remember = (
  turn: Turn,
  by: RoleLabel,
  client: ClientRow,
  { disposition, identityKey, pairs }: Finding
): void => {
  const known = Map.groupBy(turn.state.all("dispositions"), ({ entryId }) => entryId)
  for (const { entryId, outcome, score } of new Map(pairs.map((pair) => [pair.entryId, pair])).values()) {
    if (disposition === "TRUE_MATCH" && entryId === unreadableEntryId) continue
    const before = known.get(entryId) ?? []
    const row: DispositionRow = {
      clientId: client.id,
      entryId,
      number: before.length + 1,
      partnerId: client.partnerId,
      disposition,
      identityKey,
      outcome,
      score: millionths(score),
      decidedAt: turn.now,
      decidedBy: by
    }
    if (!standing(before).some((one) => isSameFinding(one, row))) turn.draft.put("dispositions", row)
  }
}

const isSameFinding = (one: DispositionRow, other: DispositionRow): boolean =>
  one.disposition === other.disposition &&
  one.identityKey === other.identityKey &&
  one.outcome === other.outcome &&
  one.score === other.score
