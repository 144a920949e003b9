// The ranges of telephone numbers that thieves call. They are closed until an account opens them.
// docs/reference/destinations.md is generated from this table. Sources: satellites and international networks, +870,
// +881 to +883 and +979, as the ITU assigns them (list of ITU-T E.164 assigned country codes); premium rates as the
// national numbering plans have them, which the ITU publishes by ITU-T E.129; high risk: codes with few ordinary calls
// that public reports on international revenue share fraud name repeatedly. Countries that many people call for good
// reasons are left out.

export const destinationClasses = ['premium_rate', 'satellite', 'high_risk'] as const

export type DestinationClass = (typeof destinationClasses)[number]

export interface NumberRange {
  readonly class: DestinationClass
  /** Without the plus. */
  readonly prefix: string
  readonly name: string
  /**
   * The digits of its shortest number, including the country code. A shorter number is a national number of another
   * country.
   */
  readonly minDigits: number
}

type Line = readonly [prefixes: string, name: string, minDigits?: number]

const satellite: readonly Line[] = [
  ['870', 'Inmarsat', 12],
  ['881', 'Global Mobile Satellite System: Iridium, Globalstar'],
  ['882 883', 'International networks: Thuraya, ships, aircraft'],
]

const premiumRate: readonly Line[] = [
  ['979', 'International premium rate service'],
  ['1900', 'North American numbering plan'],
  ['20900', 'Egypt', 10],
  ['30901 30909', 'Greece'],
  ['31900 31906 31909', 'Netherlands', 9],
  ['3290', 'Belgium', 10],
  ['3389', 'France'],
  ['34803 34806 34807 34905', 'Spain'],
  ['351601 351607 351646 351648 351760 351761 351762', 'Portugal'],
  ['352900 352901 352905', 'Luxembourg'],
  ['35315', 'Ireland'],
  ['35490', 'Iceland', 10],
  ['35790', 'Cyprus'],
  ['358600 358700', 'Finland', 9],
  ['35990', 'Bulgaria'],
  ['3690 3691', 'Hungary', 10],
  ['370900', 'Lithuania'],
  ['37190', 'Latvia'],
  ['372900', 'Estonia', 10],
  ['38090', 'Ukraine'],
  ['38560', 'Croatia', 9],
  ['38690', 'Slovenia', 9],
  ['39144 39166 39892 39894 39895 39899', 'Italy', 8],
  ['40900 40903 40906', 'Romania'],
  ['41900 41901 41906', 'Switzerland'],
  ['42090', 'Czechia'],
  ['421900', 'Slovakia'],
  ['43900 43901 43930 43931 43939', 'Austria', 10],
  ['449', 'United Kingdom'],
  ['4590', 'Denmark', 10],
  ['46900 46939 46944 4699', 'Sweden', 9],
  ['4782', 'Norway', 10],
  ['4870', 'Poland'],
  ['49900 49137', 'Germany', 9],
  ['55900', 'Brazil'],
  ['61190', 'Australia', 8],
  ['64900', 'New Zealand', 9],
  ['7803 7809', 'Russia'],
  ['90900', 'Turkey'],
]

const highRisk: readonly Line[] = [
  ['220', 'Gambia', 10],
  ['224', 'Guinea'],
  ['232', 'Sierra Leone'],
  ['239', 'São Tomé and Príncipe', 10],
  ['245', 'Guinea-Bissau', 10],
  ['246', 'Diego Garcia', 10],
  ['247', 'Ascension', 8],
  ['252', 'Somalia', 10],
  ['269', 'Comoros', 10],
  ['290', 'Saint Helena', 8],
  ['500', 'Falkland Islands', 8],
  ['53', 'Cuba', 10],
  ['670', 'Timor-Leste', 10],
  ['672', 'Antarctica, Norfolk Island', 9],
  ['674', 'Nauru', 10],
  ['675', 'Papua New Guinea', 10],
  ['677', 'Solomon Islands', 8],
  ['678', 'Vanuatu', 8],
  ['681', 'Wallis and Futuna', 9],
  ['682', 'Cook Islands', 8],
  ['683', 'Niue', 7],
  ['686', 'Kiribati', 8],
  ['688', 'Tuvalu', 8],
  ['690', 'Tokelau', 7],
  ['850', 'North Korea'],
  ['960', 'Maldives', 10],
]

// The shortest number of most countries, in digits.
const usualMinDigits = 11

export const numberRanges: readonly NumberRange[] = [
  ...rangesOf('premium_rate', premiumRate),
  ...rangesOf('satellite', satellite),
  ...rangesOf('high_risk', highRisk),
]

function rangesOf(name: DestinationClass, lines: readonly Line[]): readonly NumberRange[] {
  return lines.flatMap(([prefixes, country, minDigits = usualMinDigits]) =>
    prefixes.split(' ').map((prefix) => ({ class: name, prefix, name: country, minDigits })),
  )
}

const byPrefix = new Map(numberRanges.map((range) => [range.prefix, range]))
const longest = Math.max(...numberRanges.map(({ prefix }) => prefix.length))

/** Returns the narrowest range that contains an E.164 number, given without its plus. */
export function rangeOf(number: string): NumberRange | undefined {
  for (let length = Math.min(longest, number.length); length > 0; length--) {
    const range = byPrefix.get(number.slice(0, length))
    if (range !== undefined) return range
  }
  return undefined
}
