import { describe, expect, it } from 'vitest'
import { createAddressGuard, literalOf, parseTarget } from './address-guard.ts'

describe('createAddressGuard', () => {
  const isAllowed = createAddressGuard([])

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e', '::ffff:8.8.8.8'])(
    'lets the public address %s through',
    (address) => expect(isAllowed(address)).toBe(true),
  )

  it.each([
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.255.254'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['link-local and cloud metadata', '169.254.169.254'],
    ['shared address space', '100.64.0.1'],
    ['shared address space metadata', '100.100.100.200'],
    ['a cloud host', '168.63.129.16'],
    ['protocol assignments', '192.0.0.192'],
    ['documentation', '192.0.2.1'],
    ['6to4 relay', '192.88.99.1'],
    ['benchmarking', '198.18.0.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['v4-mapped loopback', '::ffff:127.0.0.1'],
    ['v4-mapped loopback in hex', '::ffff:7f00:1'],
    ['v4-mapped metadata', '::ffff:a9fe:a9fe'],
    ['v4-compatible loopback', '::7f00:1'],
    ['v4-translated loopback', '::ffff:0:7f00:1'],
    ['NAT64 loopback', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::a00:1'],
    ['6to4 loopback', '2002:7f00:1::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['unique-local', 'fc00::1'],
    ['unique-local metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['public with a zone', '2606:4700:4700::1111%eth0'],
    ['deprecated site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['documentation', '2001:db8::1'],
    ['discard', '100::1'],
    ['no address at all', 'localhost'],
    ['nothing', ''],
  ])('refuses %s: %s', (_what, address) => expect(isAllowed(address)).toBe(false))

  it('lets a listed range through and nothing beside it', () => {
    const listed = createAddressGuard(['10.1.0.0/16', 'fd00::/8'])
    expect(listed('10.1.2.3')).toBe(true)
    expect(listed('::ffff:10.1.2.3')).toBe(true)
    expect(listed('fd12::1')).toBe(true)
    expect(listed('10.2.0.1')).toBe(false)
    expect(listed('127.0.0.1')).toBe(false)
  })
})

describe('parseTarget', () => {
  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'javascript:1',
    '/relative',
    'example.com',
    '',
    'http://',
    'http://user@example.com/',
    'http://:secret@example.com/',
    'http://256.1.1.1/',
  ])('refuses %s', (url) =>
    expect(() => parseTarget(url)).toThrow(expect.objectContaining({ code: 'hook_bad_url' })),
  )

  it.each([
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
  ])('reads %s as the address a socket would see', (url) =>
    expect(literalOf(parseTarget(url).hostname)).toBe('127.0.0.1'),
  )

  it('takes the brackets off an IPv6 host', () =>
    expect(literalOf(parseTarget('http://[::ffff:7f00:1]/').hostname)).toBe('::ffff:7f00:1'))

  it('knows a name from a literal', () => expect(literalOf('1.example.com')).toBeUndefined())
})
