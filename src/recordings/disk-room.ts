// How much of a disk recordings may still take. A part stays free: what else is in the data directory, the database before all, must
// go on when recordings have taken the rest.
import { statfsSync } from 'node:fs'

const freeShare = 0.1
const mostFreeBytes = 1_073_741_824

export interface Disk {
  readonly freeBytes: number
  readonly size: number
}

/** Throws what the system says, of a folder that is not there for one. */
export function diskOf(folder: string): Disk {
  const { bavail, bsize, blocks } = statfsSync(folder)
  return { freeBytes: bavail * bsize, size: blocks * bsize }
}

export function roomOn({ freeBytes, size }: Disk): number {
  return Math.max(0, freeBytes - Math.min(mostFreeBytes, size * freeShare))
}
