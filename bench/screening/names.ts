/**
 * Invented people whose names behave like real ones: nine ways of naming, five scripts, common names far commoner than
 * rare ones, one to five words, marks and double-barrelled surnames. As in real registers, a longer list has more
 * surnames, most of them rare and longer than the common ones. Lists of all lengths are drawn from the same people, so
 * the number of entries that are similar to one client grows with the list. The same seed gives the same people.
 */

/** A number from 0 to below 1, evenly spread (mulberry32). */
export type Random = () => number

export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <A>(random: Random, values: ReadonlyArray<A>): A =>
  values[Math.floor(random() * values.length)] as A

/** One word in Latin letters and in the script of its culture. */
export interface Word {
  readonly latin: string
  readonly native: string
}

export interface Person {
  readonly first: Word
  readonly middle: Word | null
  readonly last: Word
  /** YYYY-MM-DD */
  readonly dob: string
  readonly country: string
}

/** Syllables as `latin` or `latin:native`, from which given names and surnames are built. */
interface Culture {
  readonly countries: ReadonlyArray<string>
  readonly given: string
  readonly family: string
  readonly endings: string
  /** The least and the largest number of syllables before the ending of a surname. */
  readonly familySyllables: readonly [number, number]
  readonly givenSyllables: readonly [number, number]
  /** The share of people with a second given name, and with a surname of two words. */
  readonly middle: number
  readonly double: number
}

const cultures: ReadonlyArray<Culture> = [
  {
    countries: ["DE", "AT", "CH", "SE", "DK"],
    given: "an na ju li us ka ro fe lix mo ritz jo nas el len hei di gün ter jür gen len nart so phie mar tin björn",
    family: "schmi mül köh wei bau gru hof lin ber wal fried hel stein rich kro nau sör ling bräu hau voss kel zim ros",
    endings: "mann er ler berg ke ström sen stein hoff feld ing bach",
    familySyllables: [1, 2],
    givenSyllables: [2, 3],
    middle: 0.35,
    double: 0.08
  },
  {
    countries: ["RU", "BY", "UA", "BG", "RS"],
    given:
      "i:и van:ван ni:ни ko:ко lai:лай ser:сер gei:гей vla:вла di:ди mir:мир o:о le:ле ks:кс an:ан na:на ta:та ya:я ek:ек ri:ри bo:бо yu:ю kon:кон stan:стан tin:тин",
    family:
      "pe:пе tr:тр ku:ку zne:зне so:со ko:ко lo:ло mo:мо ro:ро zo:зо vol:вол gri:гри she:ше vche:вче bon:бон da:да ren:рен li:ли ty:ты mo:мо che:че khar:хар zhu:жу shcha:ща",
    endings: "ov:ов ova:ова ev:ев enko:енко sky:ский ich:ич in:ин uk:ук",
    familySyllables: [2, 3],
    givenSyllables: [2, 3],
    middle: 0.7,
    double: 0.02
  },
  {
    countries: ["PL", "CZ", "SK", "HR"],
    given: "ja kub woj ciech sta ni sław ka ta rzy na mał go jó zef bar ba ra zo fi a mi cha ł łu kasz to máš jiří",
    family: "ko wal now no wa ki szcze pań wiś niew dą brow le wan zie liń szy mań krá lo vá čer dvo řá pro ház gó rec",
    endings: "ski ska czyk wicz ak ek ová ný ić",
    familySyllables: [2, 3],
    givenSyllables: [2, 3],
    middle: 0.2,
    double: 0.1
  },
  {
    countries: ["ES", "PT", "MX", "BR", "CO"],
    given: "jo sé ma rí a car los fran cis co lu ís al ber to te re sa gui ller mo i ña ki ra món je sús pi lar an dré",
    family: "gar mar rodr gon fer lo pe sán ra mí tor res va que mo ra le or te gu tié nú ñe cas ti sil vei do mín cor",
    endings: "cía tínez íguez zález nández ez ira o eda ães al es",
    familySyllables: [1, 2],
    givenSyllables: [2, 3],
    middle: 0.5,
    double: 0.75
  },
  {
    countries: ["TR", "AZ"],
    given: "meh met ah met mus ta fa ay şe fat ma e lif ğa nur öz gür ul aş ke mal i brah im yus uf ze ynep de niz",
    family: "yıl kay de mir şa hin çe lik öz türk ars lan do ğan kı lıç as lan çe tin ka ra koç ak sö nme er ba ya gün",
    endings: "maz oğlu demir lar türk er can kaya soy",
    familySyllables: [1, 2],
    givenSyllables: [2, 3],
    middle: 0.15,
    double: 0.05
  },
  {
    countries: ["GR", "CY"],
    given:
      "gi:Γι or:ορ gos:γος di:δη mi:μη tris:τρης ma:Μα ri:ρί a:α kos:κος tas:τας e:Ε le:λέ ni:νη ni:Νί ko:κό la:λα os:ος ka:κα te:τε ri:ρί na:να",
    family:
      "pa:Πα pa:πα do:δό pou:που ka:κα ra:ρα gian:γιαν ni:νί ko:κο ste:στε fa:φα the:θε mi:μη tri:τρι vas:βασ si:σι ale:αλε xa:ξα",
    endings: "poulos:πουλος idis:ίδης akis:άκης ou:ου as:άς is:ής",
    familySyllables: [2, 3],
    givenSyllables: [2, 3],
    middle: 0.2,
    double: 0.03
  },
  {
    countries: ["SY", "IQ", "EG", "LB", "SA", "IR"],
    given:
      "mo:مو ham:حم mad:مد ah:أح med:مد ab:عب dul:دال rah:رح man:من ka:كا rim:ريم ha:ح san:سن hus:حس sein:ين fa:فا ti:ط ma:مة lay:لي la:لى om:عم ar:ر kha:خا lid:لد",
    family:
      "al:ال has:حس san:ن ba:ب ra:را ha:ح mi:مي di:دي kha:خ li:لي fa:ف na:ن jar:جار sul:سل tan:طان ra:ر shi:شي gha:غ nem:نم za:ز yan:يان ma:م sou:صو",
    endings: "i:ي in:ين ani:اني awi:اوي oud:ود ar:ار",
    familySyllables: [2, 3],
    givenSyllables: [2, 3],
    middle: 0.6,
    double: 0.3
  },
  {
    countries: ["CN", "TW", "SG"],
    given:
      "wei:伟 fang:芳 na:娜 min:敏 jing:静 li:丽 qiang:强 lei:磊 jun:军 yang:洋 yong:勇 jie:杰 tao:涛 ming:明 chao:超 xiu:秀 ying:英 hua:华 ping:平 gang:刚 gui:桂 xin:欣 yu:宇 hao:浩 " +
      "bo:博 cai:才 chun:春 cui:翠 dan:丹 de:德 dong:东 fei:飞 feng:峰 fu:福 guang:光 hai:海 hong:红 hui:辉 jia:佳 jian:建 jin:金 juan:娟 kai:凯 kun:坤 lan:兰 liang:亮 lin:琳 ling:玲 " +
      "long:龙 mei:梅 meng:梦 ning:宁 peng:鹏 qi:琪 qin:琴 qing:青 rong:荣 rui:瑞 shan:山 sheng:生 shu:淑 song:松 ting:婷 wen:文 xia:霞 xiang:翔 xiao:晓 xue:雪 yan:艳 yi:毅 yuan:媛 yue:月 zhen:珍 zhi:志",
    family:
      "wang:王 li:李 zhang:张 liu:刘 chen:陈 yang:杨 zhao:赵 huang:黄 zhou:周 wu:吴 xu:徐 sun:孙 hu:胡 zhu:朱 gao:高 lin:林 he:何 guo:郭 ma:马 luo:罗 ou:欧 shang:上 tan:谭 xie:谢 " +
      "song:宋 zheng:郑 han:韩 tang:唐 feng:冯 yu:于 dong:董 xiao:萧 cheng:程 cao:曹 yuan:袁 deng:邓 fu:傅 shen:沈 zeng:曾 peng:彭 lu:吕 su:苏 jiang:蒋 cai:蔡 jia:贾 ding:丁 wei:魏 xue:薛 " +
      "ye:叶 yan:阎 pan:潘 du:杜 dai:戴 xia:夏 zhong:钟 tian:田 ren:任 fan:范 fang:方 shi:石 yao:姚 liao:廖 zou:邹 xiong:熊 jin:金 hao:郝 kong:孔 bai:白 cui:崔 kang:康 mao:毛 qiu:邱 qin:秦",
    endings: "",
    familySyllables: [1, 1],
    givenSyllables: [1, 2],
    middle: 0,
    double: 0
  },
  {
    countries: ["FR", "GB", "IE", "US", "NL"],
    given:
      "jean pierre cla ire tho mas em ma ja mes wil liam char lotte hé lè ne fran çois ma rie oli ver sean é ric ni cole ste phen ca ro line",
    family:
      "mar du le bla roux gi mo lam ro sim law har wat tho ed cla bel fon tai wil rob o'bri mac do pat ha cham van der beau",
    endings: "tin pont fèvre nier son ton ier eau ard wood ston ley mont",
    familySyllables: [1, 2],
    givenSyllables: [1, 2],
    middle: 0.45,
    double: 0.1
  }
]

interface Names {
  readonly culture: Culture
  readonly given: ReadonlyArray<Word>
  /** The surname of a rank. */
  readonly family: (rank: number) => Word
}

const wordsOf = (text: string): ReadonlyArray<Word> =>
  text
    .split(" ")
    .filter((part) => part !== "")
    .map((part) => {
      const [latin = "", native = latin] = part.split(":")
      return { latin, native }
    })

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const joined = (parts: ReadonlyArray<Word>): Word => ({
  latin: capital(parts.map(({ latin }) => latin).join("")),
  native: capital(parts.map(({ native }) => native.toLowerCase()).join(""))
})

const between = (random: Random, [least, most]: readonly [number, number]): number =>
  least + Math.floor(random() * (most - least + 1))

const givenInPool = 1_500

/** The number of ranks from which surnames are drawn. */
const familyRanks = 60_000
/** From this rank on surnames have one more syllable. */
const longerFrom = 5_000

/** The share of names with a changed letter, because real names are no pure sequences of syllables. */
const changed = 0.35
const letters = "aabcdeeefghiijklmnooprstuuvwyz"

const varied = (word: Word, random: Random): Word => {
  if (word.latin !== word.native || random() > changed) return word
  const at = 1 + Math.floor(random() * (word.latin.length - 1))
  const latin = word.latin.slice(0, at) + pick(random, [...letters]) + word.latin.slice(at + 1)
  return { latin, native: latin }
}

const some = (random: Random, values: ReadonlyArray<Word>, count: number): ReadonlyArray<Word> =>
  Array.from({ length: count }, () => pick(random, values))

const givenNames = (culture: Culture, seed: number): ReadonlyArray<Word> => {
  const random = randomFrom(seed)
  const syllables = wordsOf(culture.given)
  return Array.from({ length: givenInPool }, () =>
    varied(joined(some(random, syllables, between(random, culture.givenSyllables))), random)
  )
}

const surnames = (culture: Culture, seed: number): ((rank: number) => Word) => {
  const syllables = wordsOf(culture.family)
  const endings = wordsOf(culture.endings)
  // A surname of one syllable can't become longer with its rank, so there are as many surnames as syllables.
  if (endings.length === 0) return (rank) => syllables[rank % syllables.length] as Word
  return (rank) => {
    const random = randomFrom(seed + Math.imul(rank, 0x9e3779b1))
    const count = between(random, culture.familySyllables) + (rank >= longerFrom ? 1 : 0)
    return varied(joined([...some(random, syllables, count), ...some(random, endings, 1)]), random)
  }
}

/** The name pools do not depend on the list, so clients and listed people share their names. */
const pools: ReadonlyArray<Names> = cultures.map((culture, place) => ({
  culture,
  given: givenNames(culture, 1_000 + place),
  family: surnames(culture, 5_000 + place)
}))

/** Few given names are common, most are rare: the square of an even number prefers the front of a pool. */
const commonGiven = (random: Random, { given }: Names): Word => given[Math.floor(random() ** 2 * given.length)] as Word

/**
 * The third power gives this distribution: the ten commonest surnames of a culture belong to 5 % of the people, the
 * thousand commonest to 25 %. On a list of 500,000 names 40 % of the people have a surname that no other person on it
 * has.
 */
const commonFamily = (random: Random, { family }: Names): Word => family(Math.floor(random() ** 3 * familyRanks))

const twoDigits = (value: number): string => String(value).padStart(2, "0")

const birthDate = (random: Random): string =>
  `${1935 + Math.floor(random() * 70)}-${twoDigits(1 + Math.floor(random() * 12))}-${twoDigits(1 + Math.floor(random() * 28))}`

export const makePerson = (random: Random): Person => {
  const names = pick(random, pools)
  const { culture } = names
  const last = commonFamily(random, names)
  const second = random() < culture.double ? commonFamily(random, names) : null
  return {
    first: commonGiven(random, names),
    middle: random() < culture.middle ? commonGiven(random, names) : null,
    last:
      second === null ? last : { latin: `${last.latin}-${second.latin}`, native: `${last.native}-${second.native}` },
    dob: birthDate(random),
    country: pick(random, culture.countries)
  }
}
