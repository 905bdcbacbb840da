/**
 * Ends a partner, or changes its custody model. Both require that nothing is open, and no commit may come between the
 * count and the change. So the partner's clients are held: their new turns wait, and are then decided under the
 * partner's new state. The count includes all earlier decisions. So no turn writes under the old model after the change
 * (doc 3, Changing the custody model; D15).
 */
import { Effect } from "effect"
import { accept, conflict, invalidFields, refuse, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import type { ActorHost, DispatchError, Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { PartnerBooks } from "../../ports/PartnerBooks.ts"
import type { CustodyChangeRow, PartnerRow } from "../../tables/partner.ts"
import { closingPartners } from "../partners/closingPartners.ts"
import type { Directory } from "../partners/Directory.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import { partnerBlockers } from "./partnerBlockers.ts"
import { changeCustody, custodyRefusal, setStatus } from "./partnerDecisions.ts"
import { readThenDecide } from "../shared/readThenDecide.ts"

export type CustodyBody = {
  readonly custody: "BROKER" | "PARTNER"
  readonly collateralAsset?: string
  readonly reason: string
}

/** The reasons that block a custody change or a closing, found by a dry run. */
export interface Blockers {
  readonly dryRun: true
  readonly partnerId: number
  readonly blockers: ReadonlyArray<string>
}

/**
 * A change of custody model as the operator sees it: both models, the collateral asset, the reason, and who changed it
 * when.
 */
export type CustodyView = Omit<CustodyChangeRow, "id" | "partnerId">

export const custodyView = (row: CustodyChangeRow): CustodyView => {
  const { before, after, collateralAsset, reason, changedBy, changedAt } = row
  return { before, after, collateralAsset, reason, changedBy, changedAt }
}

export interface EndTools {
  readonly host: ActorHost["Service"]
  readonly directory: Directory["Service"]
  readonly books: PartnerBooks["Service"]
}

type Moved = Effect.Effect<Verdict<PartnerRow>, DispatchError>
type Found = Effect.Effect<Verdict<Blockers>, Unavailable>

/**
 * The faults of a collateral asset for a custody model, by field: PARTNER custody requires a stablecoin, BROKER custody
 * allows none (doc 1, Partner profile).
 */
export const assetErrors = ({
  custody,
  collateralAsset
}: {
  readonly custody?: "BROKER" | "PARTNER"
  readonly collateralAsset?: string
}): { readonly collateralAsset: string } | null => {
  const asset = cleanText(collateralAsset ?? "")
  if (custody === "PARTNER" && asset === "") return { collateralAsset: "PARTNER custody needs a collateral asset." }
  if (custody !== "PARTNER" && asset !== "") return { collateralAsset: "Only PARTNER custody has a collateral asset." }
  return null
}

const blockersOf = (books: PartnerBooks["Service"], row: PartnerRow, purpose: "close" | "custody"): Found =>
  Effect.map(partnerBlockers(books, row, purpose), (blockers) => accept({ dryRun: true, partnerId: row.id, blockers }))

/** The reasons why the partner can't be closed now, for a dry run; an empty list if it can. */
export const closingBlockers = ({ directory, books }: EndTools, partner: string): Found => {
  const view = directory.findPartner(partner)
  if (view === null) return Effect.succeed(refuse(unknown("Partner")))
  if (view.row.state === "CLOSED") return Effect.succeed(refuse(conflict("ALREADY", "The partner is CLOSED already.")))
  return blockersOf(books, view.row, "close")
}

/**
 * Closes a partner that is ACTIVE or SUSPENDED, while its clients are held. Refused with the blockers, if there are any.
 */
export const closePartner = (tools: EndTools, caller: OperatorCaller, row: PartnerRow, reason: string): Moved => {
  const { host, directory, books } = tools
  const decide = readThenDecide(host, {
    subject: `partner:${row.id}`,
    by: caller.by,
    read: () => partnerBlockers(books, row, "close"),
    decide: (turn, found) => setStatus(turn, "CLOSED", reason, found)
  })
  // From this point until the end of the closing, corrections for the partner are refused, as for a closed partner.
  const closing = closingPartners(host)
  const settle = Effect.suspend(() => {
    closing.add(row.id)
    return Effect.ensuring(
      decide,
      Effect.sync(() => closing.delete(row.id))
    )
  })
  // This check comes before the clients are held, so that a refused command delays no client.
  return Effect.flatMap(closingBlockers(tools, String(row.id)), (found) =>
    found.ok && found.value.blockers.length === 0 ? directory.hold(row.id, settle) : decide
  )
}

/**
 * The reasons that block a change of custody model now, for a dry run. Refused if the change would be refused even without
 * them.
 */
export const custodyBlockers = ({ directory, books }: EndTools, partner: string, request: CustodyBody): Found => {
  const view = directory.findPartner(partner)
  if (view === null) return Effect.succeed(refuse(unknown("Partner")))
  const errors = assetErrors(request)
  if (errors !== null) return Effect.succeed(refuse(invalidFields(errors)))
  const refusal = custodyRefusal(view.row, request.custody)
  return refusal === null ? blockersOf(books, view.row, "custody") : Effect.succeed(refuse(refusal))
}

/** The same checks as `custodyBlockers`, but any blocker refuses the change. */
export const mayChangeCustody = (tools: EndTools, partner: string, request: CustodyBody): Found =>
  Effect.map(custodyBlockers(tools, partner, request), (verdict) =>
    verdict.ok && verdict.value.blockers.length > 0
      ? refuse(conflict("BLOCKED", "The custody model can't be changed yet.", { blockers: verdict.value.blockers }))
      : verdict
  )

/** Changes the custody model while the partner's clients are held. Refused with the blockers, if there are any. */
export const movePartner = (tools: EndTools, caller: OperatorCaller, partner: string, request: CustodyBody): Moved =>
  Effect.flatMap(mayChangeCustody(tools, partner, request), (verdict): Moved => {
    if (!verdict.ok) return Effect.succeed(verdict)
    const { host, directory, books } = tools
    const { partnerId } = verdict.value
    const change = {
      to: request.custody,
      collateralAsset: cleanText(request.collateralAsset ?? ""),
      reason: cleanText(request.reason),
      changedBy: caller.role
    }
    return directory.hold(
      partnerId,
      readThenDecide(host, {
        subject: `partner:${partnerId}`,
        by: caller.by,
        read: (state) => {
          const row = state.one("partners")
          return row === undefined ? Effect.succeed([]) : partnerBlockers(books, row, "custody")
        },
        decide: (turn, found) => changeCustody(turn, change, found)
      })
    )
  })
