/** The stand-in for a feature that the stub server does not know: a planted one, with an endpoint of each kind. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { created, ok } from "../../src/http/api/Envelope.ts"
import { pathId } from "../../src/http/api/Parameters.ts"
import { RouteRules } from "../../src/http/api/RouteRules.ts"
import { type Running, startStubServer } from "./stubServer.ts"

const voucher = Schema.Struct({ voucherId: Schema.Int, state: Schema.Literals(["ISSUED", "SPENT"]) })
const capped = { idempotent: true, reliance: false, bodyCap: 1_024 } as const
const clientId = pathId("The client's id.")

class VouchersApi extends HttpApiGroup.make("vouchers").add(
  HttpApiEndpoint.get("get", "/clients/:clientId/voucher", { params: { clientId }, success: ok(voucher) }),
  HttpApiEndpoint.post("issue", "/vouchers", { success: [created(voucher), ok(voucher)] }).annotate(RouteRules, capped),
  HttpApiEndpoint.get("pdf", "/vouchers/pdf", {
    success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/pdf" }))
  }),
  HttpApiEndpoint.get("csv", "/vouchers/csv", {
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/csv" })
  })
) {}

describe("the stub server's substitute of a feature", () => {
  const withVouchers = async (use: (server: Running) => Promise<void>) => {
    const server = await startStubServer({ planted: [VouchersApi] })
    try {
      await use(server)
    } finally {
      await server.close()
    }
  }
  const path = (name: string) => `/partner/v1/${name}`

  it("gives answers that its schemas allow, the same each time, and no foreign client", () =>
    withVouchers(async (server) => {
      const first = await server.call("GET", path("clients/41/voucher"))
      assert.strictEqual(first.status, 200)
      Schema.decodeUnknownSync(ok(voucher))(first.json, { onExcessProperty: "error" })
      assert.strictEqual((await server.call("GET", path("clients/41/voucher"))).text, first.text)
      assert.strictEqual((await server.call("GET", path("clients/42/voucher"))).status, 404)
    }))

  it("stores and replays a write's answer, which runs once", () =>
    withVouchers(async (server) => {
      const send = () => server.call("POST", path("vouchers"), { body: {}, headers: { "idempotency-key": "k" } })
      const [first, again] = [await send(), await send()]
      assert.deepStrictEqual([first.status, again.text, server.stub.runs], [201, first.text, 1])
      assert.strictEqual(again.headers["idempotency-replayed"], "true")
    }))

  it("answers bytes and streams in their own media types", () =>
    withVouchers(async (server) => {
      const pdf = await server.call("GET", path("vouchers/pdf"))
      assert.deepStrictEqual([pdf.status, pdf.headers["content-type"]], [200, "application/pdf"])
      const csv = await server.call("GET", path("vouchers/csv"))
      assert.deepStrictEqual([csv.status, csv.headers["content-type"], csv.text], [200, "text/csv", "vouchers.csv"])
    }))
})
