/** The compiler on a folder that changes between checks: it checks only the requested files again. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { API, type Diagnostic, type Project } from "typescript/unstable/sync"

const textOf = ({ text, messageChain = [] }: Diagnostic): string => [text, ...messageChain.map(textOf)].join(" ")

export class Compiler {
  readonly #root: string
  readonly #api: API
  /**
   * The files that were changed for the last check. They are checked again, because they may have been restored since.
   */
  #last: ReadonlyArray<string> = []

  constructor(root: string) {
    this.#root = root
    this.#api = new API({ cwd: root })
    this.#api.updateSnapshot({ openProjects: [join(root, "tsconfig.json")] })
  }

  /** The faults of the whole project, one sentence each. */
  everything(): ReadonlyArray<string> {
    const { program } = this.#project([])
    return [
      ...program.getProgramDiagnostics(),
      ...program.getSyntacticDiagnostics(),
      ...program.getSemanticDiagnostics()
    ].map((found) => `${found.fileName ?? ""}: ${textOf(found)}`)
  }

  /** The faults of one file, after others have changed. */
  faults(file: string, changed: ReadonlyArray<string>): ReadonlyArray<string> {
    const { program } = this.#project(changed)
    const path = join(this.#root, file)
    return [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)].map(textOf)
  }

  close(): void {
    this.#api.close()
  }

  #project(changed: ReadonlyArray<string>): Project {
    const paths = [...new Set([...this.#last, ...changed])].map((file) => join(this.#root, file))
    this.#last = changed
    const [there, gone] = [paths.filter((path) => existsSync(path)), paths.filter((path) => !existsSync(path))]
    const [project] = this.#api
      .updateSnapshot({ fileChanges: { changed: there, created: there, deleted: gone } })
      .getProjects()
    if (project === undefined) throw new Error("the compiler has no project")
    return project
  }
}
