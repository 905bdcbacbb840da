import { afterAll, beforeAll, it } from "@effect/vitest"
import { connect } from "node:tls"
import { type OperatorService, startOperatorService } from "./operatorHarness.ts"
let service: OperatorService
beforeAll(async () => { service = await startOperatorService() })
afterAll(() => service.stop())
const hangUp = (text: string) => new Promise<void>((resolve) => {
  const { port } = new URL(service.url)
  const socket = connect({ port: Number(port), host: "127.0.0.1", ca: service.ca, servername: "localhost", rejectUnauthorized: false }, () => {
    socket.write(text, () => setTimeout(() => { socket.destroy(); setTimeout(resolve, 300) }, 50))
  })
})
it("x", async () => {
  const head = (m: string, p: string, more = "") => `${m} /operator/v1${p} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.keys.ADMIN}\r\n${more}\r\n`
  console.log("A"); await hangUp(head("POST", "/operators", "content-type: application/json\r\ncontent-length: 100\r\n") + "{\"la")
  console.log("B"); await hangUp(head("POST", "/operators", "content-type: application/json\r\ntransfer-encoding: chunked\r\n") + "3\r\n{\"l\r\n")
  console.log("C"); for (let i = 0; i < 20; i++) hangUp(head("GET", "/ledger/verify"))
  await hangUp(head("GET", "/ledger/verify"))
  const call = (m: string, p: string, body?: unknown, raw?: string) => callOperator(m, "/operator/v1" + p, { key: service.keys.ADMIN, body, ...(raw === undefined ? {} : {raw}), headers: {"content-type": "application/json"} }).then((a) => console.log(m, p, JSON.stringify(body), raw, a.status, a.text, a.headers["retry-after"]))
  Object.assign(service, {})
  for (const p of ["/clients?limit=abc", "/clients?limit=1e3", "/clients?limit=", "/clients?limit=1.5", "/clients?limit=1&limit=2", "/clients?limit=0", "/clients?before=x", "/cases?open=maybe", "/clients?state=x", "/clients?partner=a&partner=b", "/audit?since=-1", "/clients/%00", "/audit?client=%00", "/machines/client/%00", "/machines/verificationBlock/%00:PEP", "/partners/%00", "/audit?partner=%00", "/keys/%00", "/clients?partner=%00", "/clients/%ff", "/nothing"]) await call("GET", p)
  for (const b of [{}, [], "x", 1, null, {advanceMillis: "5"}, {advanceMillis: null}, {advanceMillis: 1e20}, {advanceMillis: 1.5}]) await call("POST", "/sim/clock", b)
  await call("POST", "/sim/clock", undefined, "{")
  await call("POST", "/sim/clock", undefined, "")
  for (const b of [{cidrs: 1}, {cidrs: [1]}, {}, {cidrs: ["x"]}]) await call("POST", "/partners/A/cidrs", b)
  for (const b of [{read: "1"}, {read: 0}, {read: null}]) await call("POST", "/partners/A/limits", b)
  for (const b of [{}, {code: 1, sandbox: 1, country: 5, licence: 5, custody: 1, uidPrefix: 2, collateralAsset: 5, name: 5}]) await call("POST", "/partners", b)
  for (const b of [{}, {currency: 1, amount: 5, reason: 5}, {currency: "USDC", amount: "- 1", reason: "r"}]) await call("POST", "/clients/1/ledger/adjust", b)
  for (const b of [{}, {name: 5, dob: 5, country: 5, list: 5}]) await call("POST", "/screening", b)
})
import { Agent, request } from "node:https"
import { readFileSync } from "node:fs"
const callOperator = (method: string, path: string, { key, body, raw, headers = {} }: any): Promise<any> =>
  new Promise((resolve, reject) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const out = request(`${service.url}${path}`, { method, ca: readFileSync(service.caFile, "utf8"), headers: { authorization: `Bearer ${key}`, ...(payload === undefined ? {} : {"content-length": Buffer.byteLength(payload)}), ...headers } }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on("data", (c) => chunks.push(c)); incoming.on("end", () => resolve({ status: incoming.statusCode, headers: incoming.headers, text: Buffer.concat(chunks).toString() }))
    })
    out.on("error", reject); out.end(payload)
  })
