/** Writes docs/tour.md from the steps of the tour. With --check it writes nothing and fails if the page is not current. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { tourSteps } from "../cli/tour/tourSteps.ts"
import { tourPage } from "../cli/tour/tourText.ts"

const path = "docs/tour.md"
const file = join(import.meta.dirname, "..", path)

if (import.meta.main) {
  const page = tourPage(tourSteps)
  if (!process.argv.includes("--check")) writeFileSync(file, page)
  else if (!existsSync(file) || readFileSync(file, "utf8") !== page) {
    console.error(`${path} is not current with cli/tour/tourSteps.ts: run scripts/generateTour.ts`)
    process.exitCode = 1
  }
}
