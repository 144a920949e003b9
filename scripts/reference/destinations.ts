// docs/reference/destinations.md, from the ranges in src/calls/destination-classes.ts.
import { destinationClasses, numberRanges } from '../../src/calls/destination-classes.ts'
import { defaultLimits } from '../../src/calls/defence-settings.ts'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function destinationsPage(): string {
  const names = new Map(numberRanges.map((range) => [`${range.class} ${range.name}`, range]))
  const rows = [...names.values()].map(({ class: name, name: place }) => {
    const prefixes = numberRanges.filter((range) => range.class === name && range.name === place)
    return [`\`${name}\``, place, prefixes.map(({ prefix }) => `+${prefix}`).join(', ')]
  })
  return page('Destinations that are closed at first', '`src/calls/destination-classes.ts`', [
    `Calls to these numbers are refused with [\`destination_closed\`](errors.md) until the \`CallDefence\` of the account opens the`,
    `class (${destinationClasses.map((name) => `\`allow_${name}\``).join(', ')}) or a prefix (\`open_prefixes\`); the service provider`,
    'may forbid that. Numbers are classed as a carrier would read them: with `+`, `00` or `011`, as dialled and as they stand in the',
    'INVITE to the carrier. `country_code` says whose national numbers are dialled:',
    'without it, numbers that begin with a single 0 are not classed, except those of 0900, and ten digits as North America',
    'writes them count as a number there. It also gives the prefix for calls abroad there, with the codes that choose a',
    'carrier: 0021 in Brazil, 012 in Israel, 001 010 in Japan. The `country_code` of the service provider counts beside that of the account.',
    '',
    'A carrier is sent a plus and digits, or digits alone, and nothing else. Separators (`-`, `.`, `(`, `)`, spaces) and invisible',
    'format characters of a written number are removed; any other text is refused with [`unreadable_number`](errors.md), since only',
    'the switch of the carrier knows what it would make of a pause, a letter or a mark. So are codes of a carrier such as `*67`,',
    '`#31#` and `*97` in a number: a code that belongs before every number of a carrier is its `tech_prefix`, and a caller withholds',
    'its number by `headers` with `Privacy: id`. Of the parameters of a number only `npdi` and `rn` are sent, and `rn` is checked',
    'like the number; a local number with `phone-context` is refused. The same is true of a SIP URI at the address of a carrier: its user is',
    'a number in this form, without separators, or a name that begins with a letter and has at most six digits, and it has no password and no parameters except',
    '`transport`, `user` and `lr`.',
    '',
    'A closed number is also found behind codes, one or several: codes that withhold the caller, as 141, 1470 and 1167; codes that choose a',
    'carrier, 101XXXX, as in 1010288 1 900 555 0100, and 1XXX, 1XXXX, 010XX and 0100XX before the 0 or 00 of a number; the 9 or 0 for a',
    'line of a private exchange before 00 or 011. With the `country_code` 1, a number behind 0, 00 or 01 is one that an operator calls.',
    '',
    'Sources: satellites and international networks as the ITU assigns them (list of ITU-T Recommendation E.164 assigned country',
    'codes); premium rates as national numbering plans have them (ITU-T Recommendation E.129); high risk: country codes with few',
    'ordinary calls that public reports on international revenue share fraud name again and again.',
    '',
    `Limits where nothing is set: ${Object.entries(defaultLimits)
      .map(([name, limit]) => `\`${name}\` ${limit}`)
      .join(
        ', ',
      )}. Calls by the second are counted by each node; the others on all nodes together, those of other`,
    'nodes up to ten seconds late.',
    '',
    ...table(['Class', 'Where', 'Prefixes'], rows),
  ])
}
