/**
 * Every row of the transition tables D1 to D7, D11, D15, D16, D17 and D19, written out and checked against the
 * machines, and the reverse: a transition without a row fails. Each row starts from a creation and a list of events, so
 * that it holds for rows as the service makes them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { AnyMachineSnapshot } from "xstate"
import { moneyRestriction, restrictionNames, restrictionSentences } from "../../src/machines/client/Restriction.ts"
import { CollateralReport, reportOf } from "../../src/machines/collateral/CollateralReport.ts"
import { partnerReason } from "../../src/machines/compliance/Case.ts"
import { effectName, reachable, statesOf, type Walkable } from "../../src/machines/describe.ts"
import { reliancePath, relianceStatuses } from "../../src/machines/partner/Reliance.ts"
import { type Kind, kinds, machines } from "../../src/machines/registry.ts"
import { begin, create, type Step, step } from "../../src/runtime/engine/machine/step.ts"
import { clientRows } from "./transitions/clientRows.ts"
import { kycPackageRows } from "./transitions/kycRows.ts"
import type { TransitionRow } from "./transitions/TransitionRow.ts"

const rowsFolder = join(import.meta.dirname, "transitions")

/** The exports of the files of rows, by name. */
const exported = new Map<string, ReadonlyArray<TransitionRow>>()
for (const file of readdirSync(rowsFolder)) {
  if (!file.endsWith("Rows.ts")) continue
  const module = (await import(/* @vite-ignore */ join(rowsFolder, file))) as Readonly<
    Record<string, ReadonlyArray<TransitionRow>>
  >
  for (const [name, rows] of Object.entries(module)) exported.set(name, rows)
}
const rowsOf = (kind: Kind): ReadonlyArray<TransitionRow> => exported.get(`${kind}Rows`) ?? []

describe("transition rows", () => {
  it("exist for every machine, and for no other", () =>
    assert.sameMembers(
      [...exported.keys()],
      kinds.map((kind) => `${kind}Rows`)
    ))
})

/** The stored row after the creation and the given events, each of which must be accepted. */
const play = (kind: Kind, row: TransitionRow): Step => {
  const { machine } = machines[kind] as Walkable
  let current: Step = begin(machine, row.input)
  for (const event of row.given) {
    current = step(machine, current, event)
    assert.isTrue(current.changed, `the way to the row fails at ${event.type}`)
  }
  return current
}

describe.each(kinds)("%s", (kind) => {
  const rows = rowsOf(kind)
  const { machine } = machines[kind] as Walkable

  it.each(rows.map((row) => [row.title, row] as const))("%s", (_title, row) => {
    const before = play(kind, row)
    assert.strictEqual(before.state, row.from)
    const after = step(machine, before, row.event)
    if (row.to === "refused") {
      assert.deepStrictEqual(after, { state: before.state, context: before.context, effects: [], changed: false })
      return
    }
    assert.isTrue(after.changed)
    assert.strictEqual(after.state, row.to)
    assert.deepStrictEqual(after.effects.map(effectName), row.effects)
    assert.deepInclude(after.context, row.context ?? {})
  })

  it("has a row for every transition", () => {
    const named = new Set<unknown>()
    for (const row of rows) {
      const { state, context } = play(kind, row)
      const snapshot = machine.resolveState({ value: state, context }) as AnyMachineSnapshot
      for (const definition of machine.getTransitionData(snapshot, row.event)) named.add(definition)
    }
    const missing = statesOf(machine).flatMap(({ name }) =>
      [...(machine.root.states[name]?.transitions.values() ?? [])]
        .flat()
        .filter((definition) => !named.has(definition))
        .map((definition) => `${name} ${definition.eventType} ${JSON.stringify(definition.guard ?? null)}`)
    )
    assert.deepStrictEqual(missing, [])
  })
})

describe("D1: what always holds for a client", () => {
  const rows = reachable(machines.client).map(({ state, snapshot }) => ({ state, context: snapshot.context }))

  it("D1: level NONE while held or rejected, a level otherwise", () => {
    for (const { state, context } of rows) {
      if (state === "KYC_PENDING" || state === "KYC_REJECTED") assert.strictEqual(context.level, "NONE")
      if (state === "ACTIVE" || state === "RESTRICTED") assert.notStrictEqual(context.level, "NONE")
    }
  })

  it("D1: ACTIVE has no restriction or open case, RESTRICTED always has one", () => {
    for (const { state, context } of rows) {
      const holds = context.restrictions.length + context.openCases.length
      if (state === "ACTIVE") assert.strictEqual(holds, 0)
      if (state === "RESTRICTED") assert.isAbove(holds, 0)
    }
  })

  it("A3-10: restrictions are sorted and set once", () => {
    for (const { context } of rows) {
      assert.deepStrictEqual(context.restrictions, [...new Set(context.restrictions)].toSorted())
    }
  })
})

describe("the contents of the effects", () => {
  const effectsOf = (kind: Kind, row: TransitionRow | undefined) => {
    assert.isDefined(row)
    return row === undefined ? [] : step((machines[kind] as Walkable).machine, play(kind, row), row.event).effects
  }
  const clientRow = (title: string) => clientRows.find((row) => row.title === title)

  it("D1: client.onboarded, its decision row and the level that is carried on", () => {
    const effects = effectsOf("client", clientRow("D1: none, onboard with both MiFID halves, ACTIVE at MICA_MIFID"))
    assert.deepStrictEqual(effects, [
      {
        type: "event",
        name: "client.onboarded",
        data: { verificationLevel: "MICA", lifecycleState: "ACTIVE", kycPackageId: 10 }
      },
      { type: "audit", action: "client.onboard", before: null, after: "ACTIVE", reason: "reliance onboarding" },
      {
        type: "event",
        name: "client.level_changed",
        data: {
          from: "MICA",
          to: "MICA_MIFID",
          appropriateness: { version: 3, outcome: "WARN", score: 11, attempt: 2 }
        }
      },
      { type: "audit", action: "client.level", before: "MICA", after: "MICA_MIFID", reason: null }
    ])
  })

  it("A1-29: client.review_required carries reason, package and case", () => {
    assert.deepStrictEqual(effectsOf("client", clientRow("D1: none, onboard not granted, KYC_PENDING"))[0], {
      type: "event",
      name: "client.review_required",
      data: { reason: "PEP_DECLARED", kycPackageId: 10, caseId: 20 }
    })
  })

  it("A1-48: kyc.rejected carries the level and state it leaves", () => {
    assert.deepStrictEqual(effectsOf("client", clientRow("D1: ACTIVE, reliance rejected, KYC_PENDING"))[0], {
      type: "event",
      name: "kyc.rejected",
      data: {
        kycPackageId: 10,
        revision: 1,
        reason: "The attestation is false.",
        verificationLevel: "NONE",
        lifecycleState: "KYC_PENDING"
      }
    })
  })

  it("A3-10: a restriction's notification names it and its audit row lists the remaining ones", () => {
    assert.deepStrictEqual(effectsOf("client", clientRow("A3-10: RESTRICTED, a second restriction stacks")), [
      { type: "notify", kind: "RESTRICTION_SET", ref: "FROZEN" },
      {
        type: "audit",
        action: "client.restrict",
        before: "RESTRICTED",
        after: "RESTRICTED FROZEN NO_WITHDRAWALS",
        reason: "court order"
      }
    ])
  })

  it("D2: kyc.documents_requested carries revision and note", () => {
    const row = kycPackageRows.find(({ title }) => title === "D2: SPOT_CHECK, documents requested")
    assert.deepStrictEqual(effectsOf("kycPackage", row)[0], {
      type: "event",
      name: "kyc.documents_requested",
      data: { kycPackageId: 10, revision: 1, note: "A copy of the passport is needed." }
    })
  })
})

describe("collateral report", () => {
  const report = {
    reportId: 5,
    partnerId: 2,
    clientId: 3,
    clientUid: "DEMO-00000003",
    partnerRef: "in-1",
    direction: "DEPOSIT",
    currency: "USDC",
    amount: "12.500000",
    sourceAsset: "EURC",
    txRef: "0xab",
    occurredAt: 90
  } as const
  const { machine } = machines.collateralReport
  const decided = (direction: "DEPOSIT" | "WITHDRAWAL", refusal: string | null) =>
    create(machine, { ...report, direction }, { type: "REPORT", at: 100, refusal, ledgerTxId: 8, balances: null })

  it("D11: a booked deposit posts, announces and shows the report", () => {
    const wire = { ...report, status: "BOOKED", refusal: "", ledgerTxId: 8, createdAt: 100 } as const
    const { context, effects, state } = decided("DEPOSIT", null)
    assert.strictEqual(state, "BOOKED")
    assert.deepStrictEqual(reportOf(context, "BOOKED"), wire)
    assert.deepStrictEqual(Schema.decodeUnknownSync(CollateralReport)(wire), wire)
    assert.deepStrictEqual(effects, [
      {
        type: "ledger.post",
        entry: "PARTNER_COLLATERAL_IN",
        key: "collateral:5",
        currency: "USDC",
        amount: "12.500000",
        reason: null,
        refs: {
          partnerId: 2,
          reportId: 5,
          partnerRef: "in-1",
          sourceAsset: "EURC",
          txRef: "0xab",
          direction: "DEPOSIT",
          occurredAt: 90
        }
      },
      { type: "event", name: "collateral.booked", data: wire },
      { type: "audit", action: "collateral.report", before: null, after: "BOOKED", reason: null }
    ])
  })

  it("D11: a booked withdrawal posts the negative amount", () => {
    const [post] = decided("WITHDRAWAL", null).effects
    assert.deepInclude(post, { entry: "PARTNER_COLLATERAL_OUT", amount: "-12.500000" })
  })

  it("D11: a refused report moves no money and keeps no ledger id", () => {
    const { context, effects, state } = decided("WITHDRAWAL", restrictionSentences.NO_WITHDRAWALS)
    const wire = {
      ...report,
      direction: "WITHDRAWAL",
      status: "REFUSED",
      refusal: restrictionSentences.NO_WITHDRAWALS,
      ledgerTxId: null,
      createdAt: 100
    } as const
    assert.strictEqual(state, "REFUSED")
    assert.deepStrictEqual(reportOf(context, "REFUSED"), wire)
    assert.deepStrictEqual(effects, [
      { type: "event", name: "collateral.refused", data: wire },
      {
        type: "audit",
        action: "collateral.report",
        before: null,
        after: "REFUSED",
        reason: restrictionSentences.NO_WITHDRAWALS
      }
    ])
  })
})

describe("creations that decide nothing", () => {
  it("D17: issuing a key is its first audit row", () => {
    const { state, effects } = begin(machines.apiKey.machine, { keyId: 6, createdAt: 1 })
    assert.strictEqual(state, "ACTIVE")
    assert.deepStrictEqual(effects.map(effectName), ["audit key.issue"])
  })

  it("Four eyes: the request is the approval's first audit row and names the command, its arguments' hash and the requesting key", () => {
    const [input] = machines.approval.inputs
    assert.isDefined(input)
    if (input === undefined) return
    assert.deepStrictEqual(begin(machines.approval.machine, input).effects, [
      { type: "audit", action: "approval.request", before: null, after: "PENDING", reason: "ledger adjust a1 by 1" }
    ])
  })

  it("D1: opening is the case's first audit row and states the reason", () => {
    const [input] = machines.case.inputs
    assert.isDefined(input)
    if (input === undefined) return
    assert.deepStrictEqual(begin(machines.case.machine, input).effects, [
      { type: "audit", action: "case.open", before: null, after: "OPEN", reason: "SCREENING_HIT" }
    ])
  })

  it.each(["partner", "reliance", "client", "kycPackage", "verificationBlock", "collateralReport"] as const)(
    "D1: the first state of %s emits nothing",
    (kind) => {
      const { machine, inputs } = machines[kind] as Walkable
      assert.deepStrictEqual(begin(machine, inputs[0]).effects, [])
    }
  )
})

describe("reliance path", () => {
  /** Every pair of statuses the operator may name, with the moves recorded. All other pairs are null. */
  const allowed: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["NONE NONE", []],
    ["NONE REQUESTED", ["REQUEST"]],
    ["NONE APPROVED", ["REQUEST", "APPROVE"]],
    ["REQUESTED REQUESTED", []],
    ["REQUESTED NONE", ["WITHDRAW"]],
    ["REQUESTED APPROVED", ["APPROVE"]],
    ["APPROVED APPROVED", []],
    ["APPROVED SUSPENDED", ["SUSPEND"]],
    ["APPROVED REVOKED", ["REVOKE"]],
    ["SUSPENDED SUSPENDED", []],
    ["SUSPENDED APPROVED", ["REINSTATE"]],
    ["SUSPENDED REVOKED", ["REVOKE"]],
    ["REVOKED REVOKED", []],
    ["REVOKED REQUESTED", ["REQUEST"]]
  ]
  const paths = new Map(allowed)
  const pairs = relianceStatuses.flatMap((from) => relianceStatuses.map((to) => [from, to] as const))

  it.each(pairs)("D16: %s to %s", (from, to) => {
    const path = reliancePath(from, to)
    assert.deepStrictEqual(path, paths.get(`${from} ${to}`) ?? null)
    const { machine } = machines.reliance
    let row: { readonly state: string; readonly context: Step<typeof machine>["context"] } = {
      state: from,
      context: { partnerId: 1, reason: null, changedAt: 0 }
    }
    for (const type of path ?? []) {
      const next = step(machine, row, { type, at: 1, reason: "decided" })
      assert.isTrue(next.changed)
      row = next
    }
    if (path !== null) assert.strictEqual(row.state, to)
  })
})

describe("sentences and labels", () => {
  it.each([
    ["DEPOSIT", [], null],
    ["WITHDRAWAL", [], null],
    ["DEPOSIT", ["NO_WITHDRAWALS"], null],
    ["WITHDRAWAL", ["NO_WITHDRAWALS"], restrictionSentences.NO_WITHDRAWALS],
    ["DEPOSIT", ["FROZEN"], restrictionSentences.FROZEN],
    ["WITHDRAWAL", ["FROZEN", "NO_WITHDRAWALS"], restrictionSentences.FROZEN],
    ["DEPOSIT", ["CLOSE_OUT", "NO_NEW_RISK"], null],
    ["WITHDRAWAL", ["CLOSE_OUT", "NO_NEW_RISK"], null]
  ] as const)("A3-10: %s under %j", (direction, restrictions, sentence) => {
    assert.strictEqual(moneyRestriction(direction, restrictions), sentence)
  })

  it("A3-10: every restriction has its own sentence", () => {
    const sentences = restrictionNames.map((name) => restrictionSentences[name])
    assert.strictEqual(new Set(sentences).size, restrictionNames.length)
    for (const sentence of sentences) assert.match(sentence, /^[A-Z][^.]*\.$/)
  })

  it("A1-28: a duplicate person is never named to a partner", () => {
    assert.strictEqual(partnerReason("DUPLICATE_PERSON"), "COMPLIANCE_REVIEW")
    assert.strictEqual(partnerReason("SCREENING_HIT"), "SCREENING_HIT")
  })
})
