/** One event per side of every guard of the endpoint and delivery machines: path tests and diagrams use them (D13, D14). */
import type { DeliveryEvent, DeliveryInput, EndpointEvent, EndpointInput } from "./Webhook.ts"

export const endpointInput: EndpointInput = { partnerId: 1 }

export const endpointSamples: ReadonlyArray<EndpointEvent> = [
  { type: "PUT", at: 1 },
  { type: "DELETE", at: 2 },
  { type: "TEST", at: 3 },
  { type: "PARTNER_CLOSED", at: 4 }
]

/** A new delivery, and deliveries with one and with two attempts left. */
export const deliveryInputs: ReadonlyArray<DeliveryInput> = [0, 8, 9].map((attempts) => ({ nextAt: 0, attempts }))

export const deliverySamples: ReadonlyArray<DeliveryEvent> = [
  { type: "PARTNER_CLOSED", at: 1 },
  { type: "ACKNOWLEDGED", at: 1, status: 200 },
  { type: "ATTEMPT_FAILED", at: 1, status: 500, error: "The endpoint answered 500." },
  { type: "REDELIVER", at: 2 }
]
