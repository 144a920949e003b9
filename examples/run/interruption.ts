/** Resolves at Ctrl-C or SIGTERM. */
export function interruption(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
