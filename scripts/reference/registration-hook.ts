// The hook that decides who registers and calls.
import { field, type HookDescription } from './hook-fields.ts'

const digest = 'As in the credentials of the request (RFC 8760).'
const withQop = 'the credentials have a qop'

export const registrationHook: HookDescription = {
  name: 'Registration hook',
  key: 'registration',
  purpose:
    'Asked whether a user may register or call, in place of the stored clients: `registration_hook` of the account, or of its service provider. It has only these fields. Your server, which knows the password, computes the response of the digest and compares.',
  answer:
    'An object: `{"status": "ok"}` accepts, any other status refuses with 403. So does an HTTP status of 400 to 499, which the phone gets (403 in place of 401 and 407); after 408, 425, 429, other statuses and other failures it gets 503 and tries again. The object may also contain `expires` (seconds) for a registration, `application_sid` for a call, `msg` (the reason of a refusal), `blacklist` (`true`: refused as a spammer) and `headers` (of the refusal).',
  isBare: true,
  fields: [
    field('method', 'text', '`REGISTER`, `INVITE`, or another method that a user sends.'),
    field('realm', 'text', 'The SIP realm of the account.'),
    field('username', 'text', 'The user name that it claims.'),
    field('scheme', 'text', '`digest`.'),
    field('nonce', 'text', digest),
    field('uri', 'text', digest),
    field('response', 'text', digest),
    field('algorithm', 'text', '`MD5`, `SHA-256` or `SHA-512-256`.'),
    field('qop', 'text', '`auth`.', withQop),
    field('nc', 'text', digest, withQop),
    field('cnonce', 'text', digest, withQop),
    field(
      'expires',
      'number',
      'The lifetime in seconds that the request names, in its first Contact or else in Expires; `null` if it names none.',
    ),
    field('source_address', 'text', 'The address that the request came from.'),
    field('source_port', 'number', 'The port that it came from.'),
    field(
      'headers',
      'object',
      'The headers of the request by their names in lower case, without the credentials.',
      'the hook is a POST',
    ),
  ],
}
