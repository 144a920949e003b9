import { X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { createAuthority } from '../../test/support/certificates.ts'
import { isRevoked, parseRevocationLists, UnknownSignature } from './revocation.ts'

const der = (pem: string): Buffer => new X509Certificate(pem).raw

it.each(['ecdsa', 'ed25519'] as const)('accepts a list that an authority signs with %s', (kind) => {
  const [authority, liar] = [createAuthority(kind), createAuthority(kind)]
  const [stolen, good] = [
    authority.issue({ names: 'DNS:a.example' }),
    authority.issue({ names: 'DNS:b.example' }),
  ]
  const lists = parseRevocationLists(authority.revoke(stolen))
  const chainOf = ({ certificates }: { readonly certificates: string }): Buffer[] => [
    der(certificates),
    der(authority.certificate),
  ]
  expect(isRevoked(chainOf(stolen), lists)).toBe(true)
  expect(isRevoked(chainOf(good), lists)).toBe(false)
  // The same serial number and the same name of the authority, but another key.
  expect(isRevoked(chainOf(good), parseRevocationLists(liar.revoke(good)))).toBe(false)
  for (const one of [authority, liar]) one.remove()
})

it('refuses a list that is signed with RSA-PSS, which would revoke nothing', () => {
  const authority = createAuthority('rsa-pss')
  const list = authority.revoke()
  authority.remove()
  expect(() => parseRevocationLists(list)).toThrow(UnknownSignature)
})

it('reads no certificate in BER of indefinite length', () => {
  const authority = createAuthority()
  const lists = parseRevocationLists(authority.revoke())
  const chain = [Buffer.from('3080020101000000', 'hex'), der(authority.certificate)]
  authority.remove()
  expect(() => isRevoked(chain, lists)).toThrow()
})
