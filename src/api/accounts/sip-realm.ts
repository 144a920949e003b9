// A SIP realm: the host name under which an account's phones register.
import { AppError } from '../../lib/errors.ts'
import { text } from '../define/fields.ts'
import type { Field } from '../define/field.ts'

// RFC 1123 §2.1 host names. They are stored in lower case, as they are compared.
const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
// A last label of digits only is that of an address, which no account can own: RFC 3696 §2.
const pattern = `^(${label}\\.)*(?![0-9]+$)${label}$`
const maxLength = 132

export function sipRealm(): Field<string> {
  return text({
    min: 1,
    max: maxLength,
    pattern,
    rule: 'must be a host name',
    lowerCase: true,
  }).example('acme.sip.example.com')
}

/** Returns the realm of a path: below a domain of its own, so at least `sub.domain.tld`. */
export function parseSipRealm(given: string): string {
  const realm = given.toLowerCase()
  if (realm.length > maxLength || !new RegExp(pattern).test(realm) || realm.split('.').length < 3)
    throw new AppError('bad_request', 'SipRealm must be a host name with at least two dots')
  return realm
}
