// The disk space that recordings may still take. A part stays free: other contents of the data directory, above all
// the database, must still be writable when recordings have taken the rest.
import { statfsSync } from 'node:fs'

const freeShare = 0.1
const mostFreeBytes = 1_073_741_824

export interface Disk {
  readonly freeBytes: number
  readonly size: number
}

/** Throws the error of the system, for example for a missing folder. */
export function diskOf(folder: string): Disk {
  const { bavail, bsize, blocks } = statfsSync(folder)
  return { freeBytes: bavail * bsize, size: blocks * bsize }
}

export function roomOn({ freeBytes, size }: Disk): number {
  return Math.max(0, freeBytes - Math.min(mostFreeBytes, size * freeShare))
}
