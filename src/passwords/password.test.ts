import { describe, expect, it } from 'vitest'
import { hashPassword, needsRehash, verifyAgainstNothing, verifyPassword } from './password.ts'

describe('password hashes', () => {
  it('verify the password they were made of and no other', async () => {
    const hash = await hashPassword('correct horse')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await verifyPassword('correct horse', hash)).toBe(true)
    expect(await verifyPassword('correct horsf', hash)).toBe(false)
    expect(needsRehash(hash)).toBe(false)
  })

  it('differ for the same password', async () => {
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
  })

  it('verify a hash that another implementation made', async () => {
    // The reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
    const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await verifyPassword('password', hash)).toBe(true)
    expect(needsRehash(hash)).toBe(true)
  })

  it('accept the same password in either Unicode form', async () => {
    expect(await verifyPassword('é', await hashPassword('é'))).toBe(true)
  })

  it.each([
    '',
    'plain',
    '$argon2id$v=19$m=9999999,t=99,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ])('are refused, not run, when they are malformed or ask for too much: %s', async (hash) => {
    expect(await verifyPassword('password', hash)).toBe(false)
  })

  it('of no user verify nothing', async () => {
    expect(await verifyAgainstNothing('anything')).toBe(false)
  })
})
