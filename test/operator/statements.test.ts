/**
 * `statement …` on the command line: requests, lists, downloads, verification, corrections (operator surface; STS-17,
 * STS-33).
 */
import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openOperatorScenario } from "./operatorScenario.ts"

const { service, client, call, now } = await openOperatorScenario()
const folder = mkdtempSync(join(tmpdir(), "statements-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("operator surface, statement", () => {
  it("STS-33: made, listed, saved and verified; a changed file is not verified, and equal content is not corrected", async () => {
    const clientId = await client()
    const report = { partnerRef: "cli-1", direction: "DEPOSIT", amount: "5" }
    const from = String((await now()) - 60_000)
    assert.strictEqual((await call("POST", clientId, "/collateral", report)).status, 201)
    const to = String((await now()) + 1)
    const range = ["--kind", "ACCOUNT", "--from", from, "--to", to]
    const { statementId, sha256, generatedBy } = await service.done(
      ["statement", "generate", String(clientId), ...range],
      "FINANCE"
    )
    assert.strictEqual(generatedBy, "FINANCE")
    const { statements } = await service.done(["statement", "list", String(clientId), "--kind", "ACCOUNT"], "FINANCE")
    assert.deepStrictEqual(
      statements.map((row: { statementId: number }) => row.statementId),
      [statementId]
    )
    for (const format of ["json", "pdf", "csv"]) {
      const output = join(folder, `s.${format}`)
      const line = ["statement", "get", String(statementId), "--format", format, "--output", output]
      const { bytes } = await service.done(line, "FINANCE")
      assert.strictEqual(bytes, readFileSync(output).length)
    }
    for (const format of ["json", "pdf"]) {
      const proof = await service.done(["statement", "verify", join(folder, `s.${format}`)], "FINANCE")
      assert.deepInclude(proof, { ok: true, statementId, sha256, file: true, model: true, seal: true })
    }
    const touched = join(folder, "touched.pdf")
    writeFileSync(touched, Buffer.concat([readFileSync(join(folder, "s.pdf")), Buffer.from("\n")]))
    const refused = await service.cli(["statement", "verify", touched], "FINANCE")
    assert.deepStrictEqual([refused.status, refused.json?.file], [1, false])
    const same = await service.cli(["statement", "correct", String(statementId), "--reason", "looked wrong"], "FINANCE")
    assert.deepStrictEqual([same.status, /is the same/.test(same.stderr)], [1, true])
  })

  it("STS-29: jobs are shown with their statements, failed clients, and the next due time", async () => {
    const shown = await vi.waitFor(
      async () => {
        const answer = await service.done(["statement", "jobs", "--limit", "1"], "FINANCE")
        assert.isNotNull(answer.next)
        assert.lengthOf(answer.jobs, 1)
        assert.isNull(answer.jobs[0].left)
        return answer
      },
      { timeout: 20_000, interval: 50 }
    )
    assert.deepInclude(shown.jobs[0], { failed: 0 })
    assert.deepStrictEqual(shown.failures, [])
    assert.isAbove(shown.next.dueAt, shown.jobs[0].dueAt)
    const refused = await service.cli(["statement", "jobs"], "COMPLIANCE")
    assert.strictEqual(refused.status, 1, refused.stderr)
    const table = await service.cli(["statement", "jobs"], "ADMIN")
    assert.strictEqual(table.status, 0, table.stderr)
  })

  it("operator surface: a file that is no statement of this service, or was changed, is refused with its reason", async () => {
    const clientId = await client()
    const report = { partnerRef: "cli-2", direction: "DEPOSIT", amount: "7" }
    const from = String((await now()) - 60_000)
    assert.strictEqual((await call("POST", clientId, "/collateral", report)).status, 201)
    const range = ["--kind", "ACCOUNT", "--from", from, "--to", String((await now()) + 1)]
    const { statementId } = await service.done(["statement", "generate", String(clientId), ...range], "FINANCE")
    const saved = async (format: string) => {
      const output = join(folder, `whole.${format}`)
      await service.done(["statement", "get", String(statementId), "--format", format, "--output", output], "FINANCE")
      return readFileSync(output)
    }
    const [pdf, model] = [await saved("pdf"), await saved("json")]
    const changed = (bytes: Buffer, at: number) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] ?? 0) ^ 1
      return copy
    }
    const other = Buffer.from(
      pdf.toString("latin1").replaceAll(`statement ${statementId} version`, "statement 987654321 version"),
      "latin1"
    )
    const huge = join(folder, "huge.pdf")
    writeFileSync(huge, "%PDF-1.7")
    truncateSync(huge, 256 * 1024 * 1024 + 1)
    const file = (name: string, bytes: Buffer | string): string => {
      writeFileSync(join(folder, name), bytes)
      return join(folder, name)
    }
    const cases: ReadonlyArray<readonly [what: string, file: string, status: number, sentence: RegExp]> = [
      ["a changed byte", file("changed.pdf", changed(pdf, 2_000)), 1, /differs from the service's record/],
      ["a changed model", file("changed.json", changed(model, 40)), 1, /Statement not found|is no statement/],
      [
        "half of a PDF",
        file("half.pdf", pdf.subarray(0, pdf.length / 2)),
        1,
        /is no statement|differs from the service's record/
      ],
      ["all but the end of a PDF", file("most.pdf", pdf.subarray(0, -1)), 1, /differs from the service's record/],
      ["half of a model", file("half.json", model.subarray(0, model.length / 2)), 1, /is no statement/],
      ["no PDF", file("text.txt", "dear reader"), 1, /is no statement/],
      ["a PDF of something else", file("plain.pdf", "%PDF-1.7\nhello"), 1, /is no statement/],
      ["a PDF that names another statement", file("other.pdf", other), 1, /Statement not found/],
      ["nothing", file("empty", ""), 1, /is no statement/],
      ["JSON of something else", join(import.meta.dirname, "../../package.json"), 1, /is no statement/],
      ["a huge file", huge, 1, /too large to be a statement/],
      ["a folder", folder, 2, /can not be read/],
      ["a file that is not there", join(folder, "none.pdf"), 2, /can not be read/]
    ]
    for (const [what, path, status, sentence] of cases) {
      const ran = await service.cli(["statement", "verify", path], "FINANCE")
      assert.strictEqual(ran.status, status, `${what}: ${ran.stderr}${ran.stdout}`)
      assert.match(ran.stderr, sentence, what)
    }
  })
})
