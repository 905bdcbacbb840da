/**
 * Makes a settlement item for each posting that changes a PARTNER-custody client's USDC. A collateral report makes none,
 * because the partner moved that money itself (`postingRules` lists the types that make items). The item is in the same draft
 * as the posting, so that both are committed or neither is (doc 3, Settlement item; F28; A3-18, A3-19, A3-27). The interpreter
 * applies the effects of the item's machine.
 */
import type { MachineEffect } from "../../machines/Effects.ts"
import { formatAmount } from "../../machines/shared/Money.ts"
import type { Turn } from "../engine/mailbox/ActorHost.ts"
import type { Instance } from "./Instance.ts"
import { firstRow } from "./machineRow.ts"
import { shardOf } from "../store/shard.ts"
import type { Posting } from "../ledger/Ledger.ts"
import { isSettled } from "../../machines/postingRules.ts"

export interface NewItem {
  readonly itemId: number
  /** The event and the audit row of the item, which the caller applies. */
  readonly effects: ReadonlyArray<MachineEffect>
}

/**
 * Writes the item of a drafted posting; null if it makes none. A transaction whose type makes items has one client leg, whose
 * amount is the change of the client's cash plus reserve.
 */
export const putSettlementItem = (turn: Turn, instance: Instance, posting: Posting): NewItem | null => {
  const { entry: type } = posting
  const inUsdc = posting.currency === "USDC" ? posting : posting.also?.currency === "USDC" ? posting.also : null
  if (!isSettled(type) || inUsdc === null || inUsdc.amount === 0n) return null
  const { custodyModel, clientUid, partnerClientRef } = instance
  if (custodyModel === undefined || clientUid === undefined || partnerClientRef === undefined) {
    throw new Error(`a ${type} posting needs its client's names and the custody model`)
  }
  if (custodyModel !== "PARTNER") return null
  const { clientId, partnerId, txId } = posting
  const currency = "USDC" as const
  const { amount } = inUsdc
  const itemId = turn.nextId("settlementItem")
  const input = {
    itemId,
    clientId,
    clientUid,
    partnerClientRef,
    type,
    currency,
    amount: formatAmount(amount, currency),
    refs: posting.refs,
    occurredAt: turn.now,
    ledgerTxId: txId,
    createdAt: turn.now
  }
  const { row, effects } = firstRow("settlementItems", input, {
    id: itemId,
    partnerId,
    clientId,
    shard: shardOf(clientId),
    type,
    currency,
    amount,
    txId,
    occurredAt: turn.now
  })
  turn.draft.put("settlementItems", row)
  return { itemId, effects }
}
