import { describe, expect, it } from 'vitest'
import { choiceFor, hostNamesOf, readPairs } from './certificate-choice.ts'
import { createKeyPair, selfSignedCertificate } from './x509.ts'

const keys = createKeyPair()
const fromMs = Date.now()
const pairFor = (...names: readonly string[]) => ({
  key: '',
  certificates: selfSignedCertificate({
    keys,
    names,
    organization: 'x',
    fromMs,
    untilMs: fromMs + 86_400_000,
  }),
})

const pairs = readPairs({
  ...pairFor('first.example', '127.0.0.1'),
  others: [
    pairFor('*.wild.example', '*.deep.wild.example'),
    pairFor('a.wild.example', 'Mixed.Example', 'last.example'),
    pairFor('last.example'),
  ],
})

describe('the certificate for a name', () => {
  it.each([
    ['first.example', 0],
    ['b.wild.example', 1],
    ['a.wild.example', 2],
    ['A.WILD.EXAMPLE', 2],
    ['mixed.example', 2],
    ['last.example', 2],
    ['b.deep.wild.example', 1],
    // RFC 6125 §6.4.3: a wildcard stands for one label, so neither deeper names nor the bare domain match.
    ['b.c.wild.example', undefined],
    ['wild.example', undefined],
    ['other.example', undefined],
    // Texts that are not host names.
    ['.wild.example', undefined],
    ['*.wild.example', undefined],
    ['127.0.0.1', undefined],
    ['', undefined],
    [`${'a'.repeat(64)}.wild.example`, undefined],
    ['b.wild.example\0.evil.example', undefined],
  ])('%j is number %s', (name, index) => {
    const chosen = choiceFor(pairs, name)
    expect(chosen).toBe(index === undefined ? undefined : pairs[index])
  })

  it('is one whose SIP URI has it (RFC 5922 §7.1), and not one whose SIP URI has a user', () => {
    const subjectAltName =
      'DNS:node.example, URI:sip:carrier.example, URI:sip:bob@person.example, URI:https://web.example'
    const certificate = { subjectAltName, checkHost: () => undefined } as never
    expect(hostNamesOf(certificate)).toEqual(['node.example', 'carrier.example'])
    expect(choiceFor([{ certificate }], 'Carrier.Example')).toBeDefined()
    expect(choiceFor([{ certificate }], 'person.example')).toBeUndefined()
  })
})
