/**
 * Partner firms and their keys as the operator manages them. Each command is one turn of the partner's mailbox. Facts
 * outside the mailbox, such as balances of clients, are read before the turn (D15, D16, D17; A1-06, A1-08).
 */
import { Context, Effect, Layer } from "effect"
import type { ApiKeyStatus } from "../../../machines/partner/ApiKey.ts"
import type { PartnerStatus } from "../../../machines/partner/Partner.ts"
import type { RelianceStatus } from "../../../machines/partner/Reliance.ts"
import {
  accept,
  conflict,
  invalidFields,
  type Refusal,
  refuse,
  unknown,
  type Verdict
} from "../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../machines/shared/Text.ts"
import {
  ActorHost,
  type ClaimLost,
  type DispatchError,
  type Turn,
  Unavailable
} from "../../engine/mailbox/ActorHost.ts"
import { currentDryRun } from "../../engine/mailbox/dryRun.ts"
import { Journal } from "../../engine/journal/Journal.ts"
import { Settings } from "../../Settings.ts"
import type { ApiKeyRow, PartnerRow } from "../../tables/partner.ts"
import { cidrErrors } from "../partners/addressRanges.ts"
import { Directory } from "../partners/Directory.ts"
import { KeyUsage } from "../partners/KeyUsage.ts"
import type { OperatorCaller } from "../shared/OperatorCaller.ts"
import {
  codeClaim,
  configure,
  createPartner,
  type IssuedKey,
  issueKey,
  revokeOneKey,
  setReliance,
  setStatus,
  uidPrefixClaim
} from "./partnerDecisions.ts"
import {
  assetErrors,
  type Blockers,
  closePartner,
  closingBlockers,
  custodyBlockers,
  type CustodyBody,
  type CustodyView,
  custodyView,
  mayChangeCustody,
  movePartner
} from "./partnerEnds.ts"
import { PartnerBooks } from "../../ports/PartnerBooks.ts"
import { RowReads } from "../../ports/RowReads.ts"
import { freePrefixes, prefixNotes } from "../partners/uidPrefixes.ts"

export interface PartnerProfile {
  readonly partnerId: number
  readonly code: string
  readonly name: string
  readonly legalName: string
  readonly country: string
  readonly licenceType: string
  readonly relianceStatus: RelianceStatus
  readonly status: PartnerStatus
  readonly sandbox: boolean
  readonly custodyModel: "BROKER" | "PARTNER"
  readonly collateralAsset: string
  readonly limits: { readonly readPerMinute: number; readonly tradePerMinute: number }
  readonly allowedCidrs: ReadonlyArray<string>
  readonly uidPrefix: string
  readonly createdAt: number
}

export interface PartnerBody {
  readonly code: string
  readonly name: string
  readonly legalName: string
  readonly country: string
  readonly licence: string
  readonly custody?: "BROKER" | "PARTNER"
  readonly collateralAsset?: string
  readonly uidPrefix?: string
  readonly sandbox?: boolean
}

export interface KeyView {
  readonly keyId: number
  readonly partnerId: number
  readonly label: string
  readonly prefix: string
  readonly scope: "READ" | "TRADE"
  readonly status: ApiKeyStatus
  readonly createdAt: number
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}

export type KeyBody = {
  readonly label: string
  readonly scope: "READ" | "TRADE"
}

type Answer<A> = Effect.Effect<Verdict<A>, DispatchError>

export class Partners extends Context.Service<
  Partners,
  {
    /** Creates a partner. `notes` name choices that the service made, such as a uid prefix other than the default. */
    create(
      caller: OperatorCaller,
      request: PartnerBody
    ): Answer<PartnerProfile & { readonly notes: ReadonlyArray<string> }>
    readonly list: Effect.Effect<ReadonlyArray<PartnerProfile>>
    /** A partner by id or code, with its changes of custody model, oldest first. The list is absent if there were none. */
    show(
      partner: string
    ): Effect.Effect<Verdict<PartnerProfile & { readonly custodyChanges?: ReadonlyArray<CustodyView> }>, Unavailable>
    status(caller: OperatorCaller, partner: string, to: PartnerStatus, reason: string): Answer<PartnerProfile>
    reliance(caller: OperatorCaller, partner: string, to: RelianceStatus, reason: string): Answer<PartnerProfile>
    /** The reasons why the partner can't be closed now. */
    closingBlockers(partner: string): Effect.Effect<Verdict<Blockers>, Unavailable>
    /** Changes the custody model. Refused while objects are open under the present model. */
    custody(caller: OperatorCaller, partner: string, request: CustodyBody): Answer<PartnerProfile>
    /** The reasons why `custody` would be blocked now. Refused if `custody` would be refused even without blockers. */
    custodyBlockers(partner: string, request: CustodyBody): Effect.Effect<Verdict<Blockers>, Unavailable>
    /** Dry run of `custody`, for the check before a second person's approval. */
    mayChangeCustody(
      partner: string,
      request: CustodyBody
    ): Effect.Effect<Verdict<{ readonly partnerId: number }>, Unavailable>
    /** Sets the limits in requests per minute. An absent limit stays unchanged. */
    limits(
      caller: OperatorCaller,
      partner: string,
      limits: { readonly read?: number; readonly trade?: number }
    ): Answer<PartnerProfile>
    /** Replaces the list of address ranges. An empty list lifts the restriction. */
    cidrs(caller: OperatorCaller, partner: string, cidrs: ReadonlyArray<string>): Answer<PartnerProfile>
    issueKey(caller: OperatorCaller, partner: string, request: KeyBody): Answer<IssuedKey>
    /** Dry run of `issueKey`, for the check before a second person's approval. */
    mayIssueKey(partner: string): Verdict<{ readonly partnerId: number }>
    keys(partner: string): Effect.Effect<Verdict<ReadonlyArray<KeyView>>>
    key(keyId: number): Effect.Effect<Verdict<KeyView>>
    revokeKey(caller: OperatorCaller, keyId: number, reason: string): Answer<KeyView>
  }
>()("brokerage/runtime/services/lifecycle/Partners") {
  static readonly layer = Layer.effect(
    Partners,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const journal = yield* Journal
      const settings = yield* Settings
      const usage = yield* KeyUsage
      const stored = yield* RowReads
      const tools = { host, directory, books: yield* PartnerBooks }

      const profile = (row: PartnerRow): PartnerProfile =>
        profileOf(
          row,
          (currentDryRun()?.last("reliances")?.state ?? directory.partner(row.id)?.reliance ?? "NONE") as RelianceStatus
        )

      const turnOf = <A>(
        caller: OperatorCaller,
        partner: string,
        decide: (turn: Turn, partnerId: number) => Verdict<A>
      ): Answer<A> => {
        const view = directory.findPartner(partner)
        if (view === null) return Effect.succeed(refuse(unknown("Partner")))
        const partnerId = view.row.id
        return host.dispatch({
          subject: `partner:${partnerId}`,
          by: caller.by,
          decide: (turn) => decide(turn, partnerId)
        })
      }
      const changed = (answer: Answer<PartnerRow>): Answer<PartnerProfile> =>
        // After the commit the directory shows the committed partner, reliance included.
        Effect.map(answer, (verdict) => (verdict.ok ? accept(profile(verdict.value)) : verdict))

      const createWith = (caller: OperatorCaller, request: PartnerBody, uidPrefix: string) =>
        Effect.try({
          try: () => journal.nextId("partner"),
          catch: () => new Unavailable({ unknown: false })
        }).pipe(
          Effect.flatMap((id) =>
            host.dispatch({
              subject: `partner:${id}`,
              by: caller.by,
              decide: (turn) =>
                createPartner(turn, {
                  id,
                  code: request.code.trim(),
                  name: cleanText(request.name),
                  legalName: cleanText(request.legalName),
                  country: request.country.trim(),
                  licence: request.licence,
                  sandbox: request.sandbox ?? false,
                  custodyModel: request.custody ?? "BROKER",
                  collateralAsset: cleanText(request.collateralAsset ?? ""),
                  uidPrefix
                })
            })
          )
        )

      return Partners.of({
        create: (caller, request) => {
          const refusal = creationErrors(request, settings.sandbox)
          if (refusal !== null) return Effect.succeed(refuse(invalidFields(refusal)))
          const chosen = request.uidPrefix?.trim()
          const inUse = new Set(directory.partners().map((view) => view.row.uidPrefix))
          // A concurrent creation may take the prefix first; then the next prefix is tried.
          const createFirst = ([prefix = "", ...rest]: ReadonlyArray<string>): Effect.Effect<
            PartnerRow,
            DispatchError
          > =>
            Effect.catchIf(
              createWith(caller, request, prefix),
              (error) => rest.length > 0 && lostPrefixAlone(request, prefix)(error),
              () => createFirst(rest)
            )
          return createFirst(chosen === undefined ? freePrefixes(request.code, inUse) : [chosen]).pipe(
            Effect.map((row) =>
              accept({ ...profile(row), notes: chosen === undefined ? prefixNotes(row.uidPrefix) : [] })
            ),
            Effect.catchTag("ClaimLost", (lost) => Effect.succeed(refuse(taken(lost, request))))
          )
        },
        list: Effect.sync(() =>
          directory
            .partners()
            .map((view) => profile(view.row))
            .toSorted((a, b) => a.partnerId - b.partnerId)
        ),
        show: (partner) => {
          const view = directory.findPartner(partner)
          if (view === null) return Effect.succeed(refuse(unknown("Partner")))
          const condition = { column: "partner_id", value: view.row.id }
          return Effect.map(stored.page("custodyChanges", [condition], { limit: shownChanges }), (rows) =>
            accept({
              ...profile(view.row),
              ...(rows.length === 0 ? {} : { custodyChanges: rows.toReversed().map(custodyView) })
            })
          )
        },
        status: (caller, partner, to, reason) => {
          const view = directory.findPartner(partner)
          if (to !== "CLOSED" || view === null) {
            return changed(turnOf(caller, partner, (turn) => setStatus(turn, to, cleanText(reason), [])))
          }
          return changed(closePartner(tools, caller, view.row, cleanText(reason)))
        },
        closingBlockers: (partner) => closingBlockers(tools, partner),
        custody: (caller, partner, request) => changed(movePartner(tools, caller, partner, request)),
        custodyBlockers: (partner, request) => custodyBlockers(tools, partner, request),
        mayChangeCustody: (partner, request) => mayChangeCustody(tools, partner, request),
        reliance: (caller, partner, to, reason) =>
          changed(turnOf(caller, partner, (turn) => setReliance(turn, to, cleanText(reason)))),
        limits: (caller, partner, { read, trade }) =>
          changed(
            turnOf(caller, partner, (turn) => {
              const row = turn.state.one("partners")
              if (row === undefined) return refuse(unknown("Partner"))
              if (read === undefined && trade === undefined) return accept(row)
              const change = { readPerMinute: read ?? row.readPerMinute, tradePerMinute: trade ?? row.tradePerMinute }
              return configure(
                turn,
                "partner.limits",
                change,
                (at) => `read ${at.readPerMinute} trade ${at.tradePerMinute}`
              )
            })
          ),
        cidrs: (caller, partner, cidrs) => {
          const list = cidrs.map((cidr) => cidr.trim())
          const errors = cidrErrors(list)
          if (errors !== null) return Effect.succeed(refuse(invalidFields(errors)))
          return changed(
            turnOf(caller, partner, (turn) =>
              configure(turn, "partner.cidrs", { allowedCidrs: list }, (at) => at.allowedCidrs.join(" ") || "any")
            )
          )
        },
        issueKey: (caller, partner, { label, scope }) =>
          turnOf(caller, partner, (turn) => issueKey(turn, cleanText(label), scope)),
        mayIssueKey: (partner) => {
          const view = directory.findPartner(partner)
          if (view === null) return refuse(unknown("Partner"))
          if (view.row.state === "CLOSED") return refuse(conflict("PARTNER_CLOSED", "The partner is CLOSED."))
          return accept({ partnerId: view.row.id })
        },
        keys: (partner) => {
          const view = directory.findPartner(partner)
          if (view === null) return Effect.succeed(refuse(unknown("Partner")))
          const keys = directory.keys(view.row.id).toSorted((a, b) => a.id - b.id)
          return Effect.succeed(accept(keys.map((key) => keyView(key, usage.lastUsedAt(key.id)))))
        },
        key: (keyId) =>
          Effect.sync(() => {
            const key = directory.key(keyId)
            return key === null ? refuse(unknown("Key")) : accept(keyView(key, usage.lastUsedAt(keyId)))
          }),
        revokeKey: (caller, keyId, reason) => {
          const key = directory.key(keyId)
          if (key === null) return Effect.succeed(refuse(unknown("Key")))
          return turnOf(caller, String(key.partnerId), (turn) => {
            const row = turn.state.get("apiKeys", String(keyId))
            if (row === undefined) return refuse(unknown("Key"))
            const next = revokeOneKey(turn, row, reason)
            return next === null
              ? refuse(conflict("REVOKED_ALREADY", "This key is revoked already."))
              : accept(keyView(next, usage.lastUsedAt(keyId)))
          })
        }
      })
    })
  )
}

const lostPrefixAlone =
  (request: PartnerBody, prefix: string) =>
  (error: DispatchError): error is ClaimLost =>
    error._tag === "ClaimLost" &&
    error.claims.some((claim) => claim.name === uidPrefixClaim(prefix)) &&
    !error.claims.some((claim) => claim.name === codeClaim(request.code.trim()))

const taken = (lost: ClaimLost, request: PartnerBody): Refusal =>
  lost.claims.some((claim) => claim.name === codeClaim(request.code.trim()))
    ? conflict("CODE_TAKEN", "Another partner has this code.")
    : conflict("UID_PREFIX_TAKEN", "Another partner has this uid prefix: choose one with --uid-prefix.")

const creationErrors = (request: PartnerBody, sandbox: boolean): Readonly<Record<string, string>> | null => {
  const errors: Record<string, string> = { ...assetErrors(request) }
  if (request.sandbox === true && !sandbox) errors.sandbox = "Sandbox partners exist only in a sandbox service."
  return Object.keys(errors).length === 0 ? null : errors
}

export const profileOf = (row: PartnerRow, reliance: RelianceStatus): PartnerProfile => ({
  partnerId: row.id,
  code: row.code,
  name: row.name,
  legalName: row.legalName,
  country: row.country,
  licenceType: row.licence,
  relianceStatus: reliance,
  status: row.state,
  sandbox: row.sandbox,
  custodyModel: row.custodyModel,
  collateralAsset: row.collateralAsset,
  limits: { readPerMinute: row.readPerMinute, tradePerMinute: row.tradePerMinute },
  allowedCidrs: row.allowedCidrs,
  uidPrefix: row.uidPrefix,
  createdAt: row.createdAt
})

/** The most changes that are shown with a partner, newest ones. */
const shownChanges = 100

const keyView = (row: ApiKeyRow, lastUsedAt: number | null): KeyView => ({
  keyId: row.id,
  partnerId: row.partnerId,
  label: row.label,
  prefix: row.prefix,
  scope: row.scope,
  status: row.state,
  createdAt: row.createdAt,
  revokedAt: row.context.revokedAt,
  lastUsedAt
})
