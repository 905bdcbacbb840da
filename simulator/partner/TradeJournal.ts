/**
 * Records the service's acknowledgements to the simulated traders, byte for byte: set-up, orders and cancels. An answer outside
 * the contract is kept as a sentence (doc 2, Orders; A1-51, A2-32).
 */
import { Exit, Schema } from "effect"
import { type OrderState, orderStates } from "../../src/machines/order/OrderWire.ts"
import type { PartnerAnswer } from "./PartnerClient.ts"
import type { PlaceOptions, TradeRequest } from "./TradeRequest.ts"

interface AcknowledgedTrade {
  readonly request: TradeRequest
  readonly status: number
  readonly body: Buffer
  /** True when the service had run the request at an earlier attempt, whose answer was lost. */
  readonly foundAgain: boolean
}

export interface KnownOrder {
  readonly clientId: number
  readonly orderId: number
  readonly sent: PlaceOptions
  /** The order's state in the service's acknowledgement. */
  readonly state: OrderState
  /** True once the service has confirmed a cancel of the order. */
  cancelled: boolean
}

const named = { orderId: Schema.Int, clOrdId: Schema.String, state: Schema.Literals(orderStates) }
/** The ids in a refusal of an order, or in its success. */
const decodeName = Schema.decodeUnknownExit(
  Schema.fromJsonString(Schema.Union([Schema.Struct(named), Schema.Struct({ data: Schema.Struct(named) })]))
)

export class TradeJournal {
  readonly entries: Array<AcknowledgedTrade> = []
  /** Acknowledged orders by order id. */
  readonly orders = new Map<number, KnownOrder>()
  readonly contradictions: Array<string> = []
  /** The number of requests that were refused before an order was stored. */
  refused = 0

  /** Records the final answer to a client's request and checks it. Returns the order, if one was made. */
  acknowledge(clientId: number, request: TradeRequest, answer: PartnerAnswer): KnownOrder | null {
    const { status, body, replayed: foundAgain } = answer
    this.entries.push({ request, status, body, foundAgain })
    if (request.kind === "order") return this.ordered(clientId, request.sent, answer)
    if (request.kind === "cancel") this.cancelled(request.orderId, answer)
    else if (status >= 300) this.contradict(request, answer)
    return null
  }

  private ordered(clientId: number, sent: PlaceOptions, answer: PartnerAnswer): KnownOrder | null {
    const { status } = answer
    const decoded = decodeName(answer.body.toString())
    if (Exit.isFailure(decoded)) {
      if (status === 400 || status === 403 || status === 409) this.refused++
      else this.contradictions.push(`An order of client ${clientId} was answered ${status} without its name.`)
      return null
    }
    const { orderId, clOrdId, state } = "data" in decoded.value ? decoded.value.data : decoded.value
    if (this.orders.has(orderId)) this.contradictions.push(`Order ${orderId} was told for two keys.`)
    if (clOrdId !== `O-${orderId}`) this.contradictions.push(`Order ${orderId} is called ${clOrdId}.`)
    const order: KnownOrder = { clientId, orderId, sent, state, cancelled: false }
    this.orders.set(orderId, order)
    return order
  }

  private cancelled(orderId: number, { status }: PartnerAnswer): void {
    const known = this.orders.get(orderId)
    if (known !== undefined && status === 200) known.cancelled = true
  }

  private contradict({ call }: TradeRequest, { status }: PartnerAnswer): void {
    this.contradictions.push(`${call.method} ${call.path} was answered ${status}.`)
  }
}
