// The secrets that the documentation, the examples and the tests of the platform show. They are known to everyone who
// has read them, so a platform in production refuses them by name.

const published: ReadonlySet<string> = new Set([
  'a-long-secret',
  'another-long-secret',
  'a-third-long-secret',
  'trunk-secret',
  // 64 digits, as SWITCHHOOK_SECRET_KEY wants them.
  '5f0c9d3a7e1b8642c0d9f8e7a6b5c4d35f0c9d3a7e1b8642c0d9f8e7a6b5c4d3',
  'wh_secret_0123456789abcdef',
  'correct horse 1',
  'correct horse 2',
  'correct horse battery staple',
  'a-key-of-a-vendor',
  'correct-horse-9',
  'test-admin-key-0123456789abcdef',
  'test-account-key-0123456789abcdef',
])

/** Reports a secret that is shown somewhere, or that says of itself that it is a placeholder. */
export function isPublished(secret: string): boolean {
  return published.has(secret) || /^change-?me/i.test(secret)
}

/** The published secrets, to find them where only their hashes are stored. */
export const publishedSecrets: readonly string[] = [
  ...published,
  'change-me-at-the-first-login',
  'change-me-7c1e9b0a5d3f4e2b8a6c9d0e',
  'change-me-1a2b3c4d5e6f7a8b9c0d1e2f',
]

/** The second half of a sentence that begins with the name of a field or a setting. */
export const publishedFault =
  'is printed in the documentation, so that anyone may know it: choose another one'
