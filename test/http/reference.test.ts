/**
 * The reference in a real browser, if one is installed (apt-get install chromium): nothing is loaded from other hosts,
 * the policy blocks no script or style, webhooks are included, and the console sends a request with a key that is typed
 * once.
 */
import { assert, afterAll, beforeAll, describe, it } from "@effect/vitest"
import { type Browser, chromium, type Page } from "playwright-core"
import { keys } from "./canned.ts"
import { type Running, startStubServer } from "./stubServer.ts"
import { chromiumPath, hasTool, skipNote } from "../support/tools.ts"

const missing = skipNote("chromium")

let server: Running
let browser: Browser
let page: Page
const requests: Array<string> = []
const complaints: Array<string> = []

const opened = async (path: string): Promise<void> => {
  await page.goto(`https://127.0.0.1:${server.port}${path}`, { waitUntil: "networkidle" })
}

describe.skipIf(!hasTool("chromium"))(`the reference in a browser${missing}`, () => {
  beforeAll(async () => {
    server = await startStubServer()
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] })
    page = await browser.newPage({ ignoreHTTPSErrors: true, viewport: { width: 1400, height: 900 } })
    page.on("request", (request) => requests.push(request.url()))
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
    page.on("pageerror", (error) => complaints.push(error.message))
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  it("the address leads to it, and it loads nothing from elsewhere", async () => {
    await opened("/")
    await page.getByRole("link", { name: "Reference" }).click()
    await page.waitForSelector("text=Authentication")
    const hosts = new Set(requests.filter((url) => !url.startsWith("data:")).map((url) => new URL(url).host))
    assert.deepStrictEqual([...hosts], [`127.0.0.1:${server.port}`])
    assert.deepStrictEqual(complaints, [])
  }, 120_000)

  it("it has no tools and no links of anybody else", async () => {
    for (const text of ["Developer Tools", "Generate SDKs", "Powered by"])
      assert.strictEqual(await page.locator(`text=${text}:visible`).count(), 0, text)
  }, 120_000)

  it("webhooks are named by their event", async () => {
    await page
      .getByRole("button", { name: "Webhooks" })
      .or(page.getByRole("link", { name: "Webhooks" }))
      .first()
      .click()
    await page.waitForSelector("text=client.onboarded")
  }, 120_000)

  it("its console sends a request that is answered, with the key typed once", async () => {
    await opened("/docs")
    await page.locator('input[placeholder="Token"]:visible').first().fill(keys.read)
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.url().endsWith("/partner/v1/me")),
      (async () => {
        await page.locator("button:visible", { hasText: "Test Request" }).first().click()
        await page.getByRole("button", { name: /^Send/ }).first().click()
      })()
    ])
    assert.strictEqual(request.headers()["authorization"], `Bearer ${keys.read}`)
    const answer = await request.response()
    assert.strictEqual(answer?.status(), 200)
  }, 120_000)
})
