/**
 * Invented people of many countries, to measure how many clients a likeness holds. Names are as common as real ones: the
 * commonest given name of a country belongs to one person in twelve. There are patronymics, names of one word, placeholders, and
 * birth dates that registers write as the first of January. The same seed gives the same people.
 */
import type { ScreenedPerson } from "../../src/machines/screening/screen.ts"
import type { WatchEntry } from "../../src/machines/screening/WatchList.ts"
import { pick, type Random, randomFrom } from "./names.ts"

interface Country {
  readonly code: string
  readonly given: ReadonlyArray<string>
  readonly family: ReadonlyArray<string>
  /** Makes a patronymic from a father's name. Null: the country has no patronymics. */
  readonly patronymic: ((father: string) => string) | null
  /** The share of birth dates that are written as the first of January, and the share of people with one name. */
  readonly newYear: number
  readonly oneName: number
}

const words = (text: string): ReadonlyArray<string> => text.split(" ")
const country = (
  code: string,
  given: string,
  family: string,
  more: Partial<Pick<Country, "newYear" | "oneName" | "patronymic">> = {}
): Country => ({
  code,
  given: words(given),
  family: words(family),
  patronymic: null,
  newYear: 0.003,
  oneName: 0,
  ...more
})

const countries: ReadonlyArray<Country> = [
  country(
    "RU",
    "Aleksandr Sergey Dmitriy Elena Tatyana Andrey Aleksey Olga Natalya Vladimir Anna Irina Ivan Mikhail Svetlana Evgeniy Yekaterina Nikolay Mariya Igor Oleg Pavel Roman Viktor Yuriy Anton Maksim Denis Kirill Grigoriy Lyudmila Galina Nadezhda Yuliya",
    "Ivanov Smirnov Kuznetsov Popov Vasilyev Petrov Sokolov Mikhaylov Novikov Fedorov Morozov Volkov Alekseyev Lebedev Semenov Yegorov Pavlov Kozlov Stepanov Nikolayev Orlov Andreyev Makarov Nikitin Zakharov Zaytsev Solovyov Borisov Yakovlev Grigoryev",
    { patronymic: (father) => `${father.replace(/[aeiouy]+$/, "")}ovich` }
  ),
  country(
    "UA",
    "Oleksandr Olena Serhiy Tetyana Andriy Natalia Volodymyr Iryna Mykola Oksana Yuriy Svitlana Ivan Maria Vasyl Halyna Dmytro Olha Petro Yulia Bohdan Taras Ihor Roman",
    "Melnyk Shevchenko Boyko Kovalenko Bondarenko Tkachenko Kovalchuk Kravchenko Oliynyk Shevchuk Koval Polishchuk Bondar Tkachuk Moroz Marchenko Lysenko Rudenko Savchenko Petrenko Klymenko Kravchuk Pavlenko Savchuk",
    { patronymic: (father) => `${father.replace(/[aeiouy]+$/, "")}ovych` }
  ),
  country(
    "SY",
    "Mohammed Ahmad Ali Mahmoud Mustafa Omar Khaled Hassan Hussein Ibrahim Youssef Abdullah Fatima Mariam Zeinab Rania Samir Nasser Bashar Walid Tarek Bilal Amina Layla Karim Jamal ObjectFact Rami Hamza Anas",
    "Al-Ahmad Al-Hassan Al-Ali Al-Mohammed Khalil Ibrahim Al-Hussein Darwish Haddad Khoury Saleh Al-Omar Al-Khatib Al-Najjar Al-Masri Hamdan Barakat Issa Nasser Shaheen Al-Sheikh Mansour Kassem Al-Jasem Al-Abdullah",
    { patronymic: (father) => father, newYear: 0.04, oneName: 0.01 }
  ),
  country(
    "IR",
    "Mohammad Ali Hossein Reza Mehdi Fatemeh Zahra Maryam Hassan Ahmad Amir Saeed Majid Abbas Masoud Leila Narges Mahmoud Hamid Javad Mostafa Ebrahim Akbar Nasrin",
    "Mohammadi Hosseini Ahmadi Rezaei Karimi Moradi Jafari Rahimi Ebrahimi Heidari Ghasemi Akbari Hashemi Mousavi Sadeghi Soltani Rostami Asadi Bagheri Alizadeh Kazemi Mohammadzadeh",
    { newYear: 0.02 }
  ),
  country(
    "AF",
    "Mohammad Abdul Ahmad Ghulam Sayed Haji Nasir Rahim Karim Hamid Wali Zahir Gul Nazir Amin Fazal Jan Noor Daud Farid",
    "Khan Ahmadi Rahimi Hashimi Noori Karimi Stanekzai Popal Zadran Wardak Safi Haidari Sultani Rasooli Azizi Yousafzai Akbari Amiri Mohammadi Hakimi",
    { newYear: 0.1, oneName: 0.02 }
  ),
  country(
    "CN",
    "Wei Fang Na Min Jing Li Qiang Lei Jun Yang Yong Jie Tao Ming Chao Xiuying Hua Ping Gang Guiying Xin Yu Hao Jianhua Xiaoming Zhiqiang Haiyan Lihua Wenbin Guoqiang",
    "Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng Liang Xie Tang Song Xu Han Feng Deng Cao"
  ),
  country(
    "VN",
    "Anh Hoa Minh Thanh Huong Lan Hung Dung Linh Nam Tuan Hai Mai Phuong Quang Duc Thao Trang Long Son",
    "Nguyen Tran Le Pham Hoang Huynh Phan Vu Vo Dang Bui Do Ho Ngo Duong Ly",
    { patronymic: (father) => (father.length % 2 === 0 ? "Thi" : "Van") }
  ),
  country(
    "IN",
    "Rajesh Sunita Amit Priya Sanjay Anita Rahul Pooja Vijay Neha Suresh Kavita Ramesh Deepak Manoj Lakshmi Arun Meena Ravi Anjali Mohammed Abdul Krishna Ganesh",
    "Kumar Singh Sharma Patel Gupta Reddy Khan Das Verma Rao Nair Mehta Shah Joshi Iyer Chowdhury Mukherjee Banerjee Pillai Naidu Yadav Mishra Shaikh Ansari",
    { newYear: 0.02, oneName: 0.01 }
  ),
  country(
    "PK",
    "Muhammad Ahmed Ali Hassan Usman Bilal Imran Abdul Fatima Ayesha Sana Zainab Asif Tariq Kashif Naveed Shahid Rashid Saima Nadia",
    "Khan Ahmed Ali Hussain Malik Butt Shah Iqbal Mahmood Akhtar Qureshi Sheikh Chaudhry Raza Mirza Siddiqui Baig Javed Aslam Bhatti",
    { newYear: 0.04, oneName: 0.01 }
  ),
  country(
    "ID",
    "Muhammad Siti Agus Sri Budi Dewi Andi Nur Ahmad Eko Rina Joko Wati Hendra Yanti Rudi Putri Bambang Indah Adi",
    "Santoso Wijaya Setiawan Hidayat Saputra Susanto Lestari Wibowo Kurniawan Gunawan Rahman Suharto Sukarno Nugroho Pratama Siregar Nasution Harahap",
    { oneName: 0.05, newYear: 0.01 }
  ),
  country(
    "ES",
    "Antonio Jose Manuel Francisco Maria Carmen Ana Laura Juan David Javier Daniel Isabel Carlos Miguel Rafael Pedro Angel Alejandro Lucia Marta Elena Pablo Sergio",
    "Garcia Rodriguez Gonzalez Fernandez Lopez Martinez Sanchez Perez Gomez Martin Jimenez Ruiz Hernandez Diaz Moreno Munoz Alvarez Romero Alonso Gutierrez Navarro Torres Dominguez Vazquez Ramos Gil Ramirez Serrano"
  ),
  country(
    "BR",
    "Jose Maria Joao Ana Antonio Francisca Carlos Paulo Pedro Lucas Luiz Marcos Luis Gabriel Rafael Juliana Marcia Fernanda Patricia Aline Bruno Rodrigo",
    "Silva Santos Oliveira Souza Rodrigues Ferreira Alves Pereira Lima Gomes Ribeiro Carvalho Almeida Lopes Soares Fernandes Vieira Barbosa Rocha Dias Nascimento Andrade Moreira Nunes"
  ),
  country(
    "DE",
    "Peter Michael Thomas Andreas Wolfgang Klaus Maria Ursula Monika Sabine Stefan Christian Anna Hans Martin Petra Renate Jurgen Frank Birgit Julia Katharina Lukas Felix Leon Sophie",
    "Muller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schafer Koch Bauer Richter Klein Wolf Schroder Neumann Schwarz Zimmermann Braun Kruger Hofmann Hartmann Lange Werner Krause Lehmann"
  ),
  country(
    "FR",
    "Jean Marie Pierre Michel Philippe Nathalie Isabelle Alain Patrick Nicolas Christophe Sylvie Catherine Julien Camille Thomas Claire Antoine Hugo Louis Lea Manon",
    "Martin Bernard Dubois Thomas Robert Richard Petit Durand Leroy Moreau Simon Laurent Lefebvre Michel Garcia David Bertrand Roux Vincent Fournier Morel Girard Andre Mercier Dupont Lambert"
  ),
  country(
    "GB",
    "James John David Michael Sarah Robert Paul Andrew Mary Susan Emma Daniel Thomas Richard William Margaret Elizabeth Helen Mark Karen Jack Oliver Charlotte Amelia Mohammed",
    "Smith Jones Williams Taylor Brown Davies Evans Wilson Thomas Johnson Roberts Robinson Thompson Wright Walker White Edwards Hughes Green Hall Lewis Harris Clarke Patel Jackson Wood Turner Martin"
  ),
  country(
    "TR",
    "Mehmet Mustafa Ahmet Ali Huseyin Hasan Ibrahim Ismail Fatma Ayse Emine Hatice Zeynep Murat Osman Yusuf Elif Omer Ramazan Kemal Burak Emre",
    "Yilmaz Kaya Demir Sahin Celik Yildiz Yildirim Ozturk Aydin Ozdemir Arslan Dogan Kilic Aslan Cetin Kara Koc Kurt Ozkan Simsek Polat Korkmaz",
    { newYear: 0.02 }
  ),
  country(
    "NG",
    "Mohammed Ibrahim Musa Abubakar Usman Chinedu Emeka Ngozi Blessing Grace Oluwaseun Adebayo Funmilayo Yusuf Aisha Fatima Samuel Emmanuel Ifeanyi Tunde",
    "Abubakar Musa Ibrahim Mohammed Okafor Eze Okoro Adeyemi Ogunleye Balogun Bello Sani Usman Nwosu Obi Adebayo Yusuf Aliyu Lawal Okonkwo",
    { newYear: 0.03 }
  )
]

/** Few names are common and most are rare: the nth name of a list is about 1/n as common as the first. */
const common = (random: Random, values: ReadonlyArray<string>): string =>
  values[Math.floor((values.length + 1) ** random()) - 1] as string

/** Half of the surnames are common names of the country. The other half combines two of them. */
const surname = (random: Random, { family }: Country): string => {
  const one = common(random, family)
  if (random() < 0.5) return one
  const other = pick(random, family)
  return `${one.slice(0, Math.ceil(one.length / 2))}${other.slice(Math.floor(other.length / 2))}`
}

interface Invented {
  readonly given: ReadonlyArray<string>
  readonly family: string | null
  readonly dob: string
  readonly country: string
}

const invent = (random: Random): Invented => {
  const of = pick(random, countries)
  const { code, given, patronymic, newYear, oneName } = of
  const father = common(random, given)
  const second = patronymic !== null && random() < 0.6 ? patronymic(father) : random() < 0.25 ? father : null
  const two = (value: number): string => String(1 + Math.floor(value)).padStart(2, "0")
  const day = random() < newYear ? "01-01" : `${two(random() * 12)}-${two(random() * 28)}`
  const isOneName = random() < oneName
  return {
    given: [common(random, given), ...(second === null || isOneName ? [] : [second])],
    family: isOneName ? null : surname(random, of),
    dob: `${1940 + Math.floor(random() * 65)}-${day}`,
    country: code
  }
}

/** One client. A client with one name sends a placeholder in place of the other name. */
const clientOf = (random: Random): ScreenedPerson => {
  const { given, family, dob, country: code } = invent(random)
  const placeholder = pick(random, ["FNU", "XXX", "No First Name", "N/A"])
  return {
    firstName: family === null ? placeholder : (given[0] as string),
    middleName: given[1] ?? null,
    lastName: family ?? (given[0] as string),
    dob,
    nationalities: [code]
  }
}

export const inventedClients = (count: number, seed: number): ReadonlyArray<ScreenedPerson> => {
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => clientOf(random))
}

/**
 * Entries in the form of published lists. One in three has a partial birth date or none, and one in two hundred has a name of one
 * word.
 */
export const inventedEntries = (count: number, seed: number): ReadonlyArray<WatchEntry> => {
  const random = randomFrom(seed)
  return Array.from({ length: count }, (_, index): WatchEntry => {
    const { given, family, dob, country: code } = invent(random)
    const [first = "", ...others] = given
    const shape = random()
    const name =
      family === null || shape < 0.005
        ? shape < 0.3
          ? `FNU ${first}`
          : (family ?? first)
        : shape < 0.5
          ? `${family.toUpperCase()}, ${given.join(" ")}`
          : [first, ...(shape < 0.7 ? others : []), family].join(" ")
    const known = random()
    return {
      entryId: index + 1,
      list: random() < 0.4 ? "SANCTIONS" : "PEP",
      name,
      dob: known < 0.66 ? dob : known < 0.85 ? dob.slice(0, 4) : null,
      country: random() < 0.85 ? code : null,
      source: "invented"
    }
  })
}
