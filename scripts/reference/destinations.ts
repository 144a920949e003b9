// docs/reference/destinations.md, from the ranges in src/calls/defence/destination-classes.ts.
import { destinationClasses, numberRanges } from '../../src/calls/defence/destination-classes.ts'
import { maxDialledLength } from '../../src/calls/defence/dialling-codes.ts'
import { defaultLimits } from '../../src/calls/defence/defence-settings.ts'
import { page, table } from './page.ts'

export function destinationsPage(): string {
  const names = new Map(numberRanges.map((range) => [`${range.class} ${range.name}`, range]))
  const rows = [...names.values()].map(({ class: name, name: place }) => {
    const prefixes = numberRanges.filter((range) => range.class === name && range.name === place)
    return [`\`${name}\``, place, prefixes.map(({ prefix }) => `+${prefix}`).join(', ')]
  })
  return page('Destinations that are closed at first', '`src/calls/defence/destination-classes.ts`', [
    `Calls to these numbers are refused with [\`destination_closed\`](errors.md) until the \`CallDefence\` of the account opens the`,
    `class (${destinationClasses.map((name) => `\`allow_${name}\``).join(', ')}) or a prefix (\`open_prefixes\`); the service provider`,
    'may forbid that. Numbers are classed as a carrier would read them: with `+`, `00`, `011`, separators or feature codes as',
    '`*67`, as dialled and as they stand in the INVITE to the carrier. `country_code` says whose national numbers are dialled:',
    'without it, numbers that begin with a single 0 are not classed, except those of 0900, and ten digits as North America',
    'writes them count as a number there. It also gives the prefix for calls abroad there, with the codes that choose a',
    'carrier: 0021 in Brazil, 012 in Israel, 001 010 in Japan. The `country_code` of the service provider counts beside that of the account.',
    '',
    'A number with other characters is also read by its digits alone, by those before the first such character, with letters as',
    'the keys of a telephone, percent-decoded and without `(0)`: one reading that is closed closes it. A number with control',
    'characters, or others that cannot be seen, is refused, as is one of more than ' +
      `${maxDialledLength} digits and marks. So is a closed number behind`,
    'codes, one or several: feature codes; codes that withhold the caller, as 141, 1470 and 1167; codes that choose a carrier, 101XXXX,',
    'as in 1010288 1 900 555 0100, and 1XXX, 1XXXX, 010XX and 0100XX before the 0 or 00 of a number. With the `country_code` 1, a number',
    'behind 0, 00 or 01 is one that an operator calls. A local number with a global context (RFC 3966: `5550100;phone-context=+1900`)',
    'is read as both together.',
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
