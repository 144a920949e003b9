// After each test file: gives back what its process holds for it, since the next file runs in the same process.
import { afterAll } from 'vitest'
import { releasePorts } from './ports.ts'

afterAll(releasePorts)
