/**
 * The requirements of the common suite of delivery stores for each implementation, and the rows that the suite writes.
 */
import type { DeliveryStore } from "../../../src/runtime/ports/DeliveryStore.ts"
import { versionOf } from "../../../src/runtime/engine/machine/step.ts"
import type { DeliveryRow } from "../../../src/runtime/tables/webhook.ts"
import { noon } from "../engine/fixtures.ts"

export interface DeliveryBench {
  readonly store: DeliveryStore["Service"]
  /** Writes rows as their causes do. */
  readonly put: (rows: ReadonlyArray<DeliveryRow>) => Promise<void>
  readonly rows: () => Promise<ReadonlyArray<DeliveryRow>>
  readonly close: () => Promise<void>
}

/** A fresh delivery of the partner, due at noon. */
export const deliveryOf = (id: number, partnerId: number, over: Partial<DeliveryRow> = {}): DeliveryRow => ({
  id,
  partnerId,
  clientId: null,
  event: "webhook.test",
  state: "PENDING",
  version: versionOf("webhookDelivery"),
  context: { attempts: 0, lastStatus: null, error: null, sentAt: null, nextAt: over.nextAt ?? noon, tries: [] },
  body: `{"id":${id}}`,
  ts: noon,
  nextAt: noon,
  claimToken: null,
  claimedAt: null,
  ...over
})
