// The prefixes that are dialled before a foreign number, by the calling code of the country they are dialled in. After
// 00, 0, 8 or 1 some of them choose a carrier.

/**
 * The prefixes other than 00, which is valid everywhere: those that the ITU lists (dialling procedures: international
 * prefix) and, for carriers' own, those that the metadata of libphonenumber (`internationalPrefix`) and the carriers
 * publish. The prefixes of East Africa that reach only a neighbour are left out. An 11-digit number of North America is
 * never read as 1XX0 and a number.
 */
const prefixesOf: Readonly<Record<string, readonly RegExp[]>> = {
  // 01 is the prefix of an operator call.
  '1': [/^011/, /^01(?!1)/],
  '7': [/^810/, /^82\d/],
  '51': [/^19\d\d00/],
  '53': [/^119/],
  '55': [/^00(?:1[2457]|2[1-79]|3[1567]|4[1-7]|[56]5|6[13]|8[159]|9[1589])/],
  '56': [/^1\d\d0(?=\d{8})/],
  '57': [/^00[579]/, /^004(?:[14]4|56)/],
  '61': [/^001[14-689]/, /^14\d\d0011/],
  '62': [/^00[1789]/, /^010\d\d/],
  '64': [/^0161/],
  '65': [/^0[0-3]\d/],
  '66': [/^00[1-9]/],
  '81': [/^010/, /^00(?:1|\d\d|91\d\d)010/],
  '82': [/^00[1-9]/, /^00[37]\d\d/],
  '230': [/^0[24-7]0/, /^033/],
  '234': [/^009/],
  '235': [/^16/],
  '238': [/^0/],
  '248': [/^0[12]/, /^010/],
  '354': [/^1(?:001|0[12]0|100)/],
  '358': [/^99[0-46-9]/, /^995\d\d/],
  '375': [/^810/],
  '386': [/^10(?:22|66|88|99)/],
  '591': [/^001\d/],
  '592': [/^001/],
  '598': [/^01[3-9]\d/],
  '675': [/^05/, /^140[1-3]/],
  '677': [/^01/],
  '679': [/^052/],
  '680': [/^01[12]/],
  '685': [/^0/],
  '850': [/^99/],
  // 00 is dialled there too: 00 86 755 is Shenzhen, 00 91 900 India and 00 7 960 Russia.
  '852': [/^00[126]/, /^007(?!9)/, /^008(?!6)/, /^009(?!1)/, /^00[3568]\d/, /^1[56]\d\d(?=\d{8})/],
  '855': [/^00[14-9]/],
  '886': [/^00[25-79]/, /^019/],
  '960': [/^019/],
  '972': [/^01[2-9]/, /^0105/],
  '976': [/^00[12]/],
  '992': [/^810/],
  '993': [/^810/],
  '998': [/^810/],
}

// Any carrier may accept these: no other number of this length begins with them.
const anywhere = [/^0011/, /^011/]
const minDigits = 11

/** Returns what remains after each possible prefix, without leading zeros, as no country code begins with 0. */
export function behindPrefixes(text: string, country: string | undefined): readonly string[] {
  if (text.length < minDigits) return []
  const prefixes = country === undefined ? anywhere : [...(prefixesOf[country] ?? []), /^0011/]
  return prefixes.flatMap((prefix) =>
    prefix.test(text) ? [text.replace(prefix, '').replace(/^0+/, '')] : [],
  )
}
