/**
 * Names in plain capital letters A-Z, letter by letter. Screening compares names, and transaction reporting builds CONCAT
 * from them; both must use the same letters, so there is one table. Source: F27 (ESMA/2016/1452 transliteration table), F26
 * (the table, then Unicode decomposition).
 */

/**
 * Letters of the guideline's table that Unicode does not decompose. All its other letters (accents, carons, ogoneks...) lose
 * their marks by decomposition, with the same result. One letter gives one letter: the guideline turns German sharp s into S,
 * and the AE ligature into A. The letters from ÐD on are not in the guideline; without an entry here they would be lost.
 */
const latin = "ÆA æA ĐD đD ðD ıI ŁL łL ØO øO ŒO œO ẞS ßS ÞT þT ÐD ĦH ħH ŦT ŧT ŊN ŋN ƏE əE"

/** ICAO Doc 9303 Cyrillic. Й, Ё, Ї, Ў, Ѓ and Ќ arrive decomposed as И, Е, І, У, Г and К, which have the same ICAO letters. */
const cyrillic =
  "АA БB ВV ГG ҐG ДD ЂD ЕE ЄIE ЖZH ЗZ ЅDZ ИI ІI ЈJ КK ЛL ЉLJ МM НN ЊNJ ОO ПP РR СS ТT ЋC УU ФF ХKH ЦTS ЧCH ЏDZ " +
  "ШSH ЩSHCH ЪIE ЫY Ь ЭE ЮIU ЯIA"

/** Greek letters by ELOT 743, each by itself: digraphs have no rules of their own. */
const greek = "ΑA ΒV ΓG ΔD ΕE ΖZ ΗI ΘTH ΙI ΚK ΛL ΜM ΝN ΞX ΟO ΠP ΡR ΣS ΤT ΥY ΦF ΧCH ΨPS ΩO"

/** Each word above is a letter followed by its replacement. */
const table: ReadonlyMap<string, string> = new Map(
  [latin, cyrillic, greek].flatMap((words) =>
    words.split(" ").map((word) => [word.slice(0, 1), word.slice(1)] as const)
  )
)

/** Titles of the guideline, without dots; removed from names before any comparison or cut. */
export const nameTitles: ReadonlySet<string> = new Set(
  (
    "ATTY COACH DAME DR FR GOV HONORABLE MADAM MADAME MAID MASTER MISS MONSIEUR " +
    "MR MRS MS MX OFC PHD PRES PROF REV SIR"
  ).split(" ")
)

const letter = (character: string): string => {
  const direct = table.get(character)
  if (direct !== undefined) return direct
  const upper = character.toUpperCase()
  return table.get(upper) ?? upper
}

/**
 * Upper-case text with Latin, Cyrillic and Greek letters as A-Z and without diacritics. Spaces, punctuation, digits and letters
 * of other scripts stay: the callers handle them.
 */
export const transliterate = (text: string): string => {
  // Nearly all names, of clients and of lists, are plain ASCII, which needs no table.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toUpperCase()
  let result = ""
  for (const character of text.normalize("NFKD").replace(/\p{M}/gu, "")) result += letter(character)
  return result
}
