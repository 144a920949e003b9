// Fields whose values are used in SIP messages or DNS queries: no value can end a header or a URI.
import { text } from './fields.ts'
import type { Field } from './field.ts'

// RFC 1123 §2.1 and RFC 2782: letters, digits and hyphens, with the underscores that names of services have.
const label = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
// A last label of digits only would be a mistyped address.
const lastLabel = '(?![0-9]+$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const octet = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const address = `${octet}(\\.${octet}){3}`
const name = `(${label}\\.)*${lastLabel}`
const dottedName = `(${label}\\.)+${lastLabel}`

/** Accepts an IPv4 address or a host name. */
export function host({ max }: { readonly max: number }): Field<string> {
  return text({
    min: 1,
    max,
    pattern: `^(${address}|${name})$`,
    rule: 'must be an IPv4 address or a host name',
  })
}

/** Returns a field for the domain of a far end: an IPv4 address, or a name with a dot. */
export function domain({ max, mayBeEmpty = false }: { readonly max: number; readonly mayBeEmpty?: boolean }) {
  return text({
    max,
    pattern: `^(${address}|${dottedName})${mayBeEmpty ? '?' : ''}$`,
    rule: 'must be an IPv4 address or a domain name with a dot, without sip: and white space',
  })
}

/** Stores lower case, as domain names are compared. */
export function fullDomainName({ max }: { readonly max: number }): Field<string> {
  return text({
    min: 1,
    max,
    pattern: `^${dottedName}$`,
    rule: 'must be a domain name with a dot',
    lowerCase: true,
  })
}

/** Accepts a part of a SIP URI or header field: no white space, control characters, brackets or quotes. */
export function sipWord({ max }: { readonly max: number }): Field<string> {
  return text({
    max,
    pattern: '^[^\\s\\u0000-\\u001f\\u007f-\\u009f<>"]*$',
    rule: 'must not contain white space, control characters, brackets or quotes',
  })
}
