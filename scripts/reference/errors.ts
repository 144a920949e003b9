// docs/reference/errors.md, from the catalogue in src/lib/errors/.
import { catalogue, entryOf, type ErrorCode } from '../../src/lib/errors.ts'
import { table } from '../../src/api/docs/schema-text.ts'
import { page } from './page.ts'

export function errorsPage(): string {
  const codes = Object.keys(catalogue) as ErrorCode[]
  const rows = codes.map((code) => {
    const { http, sip, cause, cure } = entryOf(code)
    return [`\`${code}\``, String(http), sip === undefined ? '' : String(sip), cause, cure]
  })
  return page('Errors', '`src/lib/errors/`', [
    'Every failure the platform reports has one of these codes: in the `code` of an API error, in the journal of a',
    'call and in the log. SIP refusals carry the sentence in `X-Reason` and the code in `X-Reason-Code`.',
    '',
    ...table(['Code', 'HTTP', 'SIP', 'Cause', 'What to do'], rows),
  ])
}
