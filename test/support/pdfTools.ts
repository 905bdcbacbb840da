/**
 * Debian tools that read PDF files independently of the project. A test that needs a missing tool is skipped
 * (tools.ts).
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const pdfTools = ["pdftotext", "pdfinfo", "pdffonts", "pdfdetach", "qpdf"] as const
type Tool = (typeof pdfTools)[number]

/** Writes a PDF to disk while `work` runs. `work` gets a function that runs a tool on it. */
export const withPdf = <A>(bytes: Uint8Array, work: (run: (tool: Tool, ...args: Array<string>) => string) => A): A => {
  const folder = mkdtempSync(join(tmpdir(), "statement-"))
  try {
    const file = join(folder, "statement.pdf")
    writeFileSync(file, bytes)
    return work((tool, ...args) => {
      // A tool writes its further output to the same folder.
      const { status, stdout, stderr } = spawnSync(
        tool,
        args.map((arg) => arg.replace("{}", file)),
        {
          encoding: "utf8",
          cwd: folder,
          maxBuffer: 1 << 28
        }
      )
      if (status !== 0) throw new Error(`${tool} ended with ${status}: ${stderr}${stdout}`)
      return stdout
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The model attached to a PDF. */
export const attachedModel = (bytes: Uint8Array): string => {
  const folder = mkdtempSync(join(tmpdir(), "statement-"))
  try {
    const out = join(folder, "model.json")
    withPdf(bytes, (run) => run("pdfdetach", "-save", "1", "-o", out, "{}"))
    return readFileSync(out, "utf8")
  } finally {
    rmSync(folder, { recursive: true })
  }
}
