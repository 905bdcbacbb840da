/**
 * An operator key that is revoked between a grant and its turn: the grant uses up nothing, and `ledger verify`, which
 * ends the scenario, finds no approval that was used but never granted (operator surface, Four eyes).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { fourEyesClasses } from "../../src/http/api/operator/commands.ts"
import { RowReads } from "../../src/runtime/ports/RowReads.ts"
import { Adjustments } from "../../src/runtime/services/money/ledger/Adjustments.ts"
import { Payouts } from "../../src/runtime/services/money/ledger/Payouts.ts"
import { CloseOutDesk } from "../../src/runtime/services/margin/CloseOutDesk.ts"
import { Approvals } from "../../src/runtime/services/operations/operator/Approvals.ts"
import { SwapDesk } from "../../src/runtime/services/trading/swap/SwapDesk.ts"
import { VenueResolutions } from "../../src/runtime/services/operations/registries/VenueResolutions.ts"
import { Partners } from "../../src/runtime/services/lifecycle/Partners.ts"
import { Interfirm } from "../../src/runtime/services/money/settlement/Interfirm.ts"
import { operator } from "../support/Service.ts"
import { runRecorded } from "./operatorHarness.ts"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, key } = await openOperatorScenario({ settings: { fourEyes: new Set(fourEyesClasses) } })
const clientId = String(await service.client(key))
const adjust = ["ledger", "adjust", clientId, "--currency", "USDC", "--amount", "1", "--reason", "correction"]

/** An operator key of finance. */
const made = async (label: string) => {
  const created = await service.done(["operator", "create", "--label", label, "--role", "FINANCE"])
  return { keyId: created.operatorId as number, key: created.key as string }
}
const ask = async (operatorKey: string): Promise<number> => {
  const connection = ["--url", service.url, "--operator-key", operatorKey, "--ca", service.caFile]
  return (await runRecorded([...adjust, "--json", "--yes", ...connection])).json.approvalId
}

/** Grants with `granter`, and revokes `revoked` after the approval's row is read and before the grant's turn. */
const grantWhileRevoked = async (approvalId: number, granter: number, revoked: number): Promise<string> => {
  const onItsWay = Promise.withResolvers<void>()
  const revocation = Promise.withResolvers<void>()
  // The grant reads the audit between the read of the approval and its turn.
  const slowReads = Layer.effect(
    RowReads,
    Effect.map(RowReads, (stored) =>
      RowReads.of({
        ...stored,
        page: (table, conditions, query) =>
          Effect.suspend(() => {
            onItsWay.resolve()
            return Effect.andThen(
              Effect.promise(() => revocation.promise),
              stored.page(table, conditions, query)
            )
          })
      })
    )
  )
  const commands = Layer.mergeAll(
    Adjustments.layer,
    CloseOutDesk.layer,
    Payouts.layer,
    Partners.layer,
    Interfirm.layer,
    VenueResolutions.layer,
    SwapDesk.layer
  )
  const granting = service.run(
    Effect.provide(
      Effect.flatMap(Approvals, (approvals) => approvals.grant({ ...operator, keyId: granter }, approvalId)),
      Approvals.layer.pipe(Layer.provide(slowReads), Layer.provide(commands))
    )
  )
  await onItsWay.promise
  await service.done(["operator", "revoke", String(revoked)])
  revocation.resolve()
  const granted = await granting
  return !granted.ok && granted.refusal._tag === "Conflict" ? granted.refusal.sentence : "granted"
}

const approvalOf = async (approvalId: number) =>
  (await service.done(["approval", "list"])).approvals.find(
    (each: { readonly approvalId: number }) => each.approvalId === approvalId
  )

describe("operator surface, Four eyes, a key revoked before the grant's turn", () => {
  it("the granter's: another key may grant it", async () => {
    const approvalId = await ask((await made("asker")).key)
    const { keyId } = await made("granter")
    assert.match(await grantWhileRevoked(approvalId, keyId, keyId), /key that granted the command is revoked/)
    assert.strictEqual((await approvalOf(approvalId)).status, "PENDING")
    assert.strictEqual((await service.done(["approval", "grant", String(approvalId)])).command, "ledger adjust")
  })

  it("the requester's: it waits, and may be refused", async () => {
    const asker = await made("asker 2")
    const approvalId = await ask(asker.key)
    const { keyId } = await made("granter 2")
    assert.match(await grantWhileRevoked(approvalId, keyId, asker.keyId), /key that requested the command is revoked/)
    assert.strictEqual((await service.done(["approval", "refuse", String(approvalId)])).status, "REFUSED")
  })

  it("of an approval that is refused: it stays refused", async () => {
    const approvalId = await ask((await made("asker 3")).key)
    await service.done(["approval", "refuse", String(approvalId)])
    const { keyId } = await made("granter 3")
    assert.match(await grantWhileRevoked(approvalId, keyId, keyId), /decided already/)
    const { status, outcome } = await approvalOf(approvalId)
    assert.deepStrictEqual([status, outcome], ["REFUSED", null])
  })
})
