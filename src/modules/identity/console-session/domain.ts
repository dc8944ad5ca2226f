import { minuteMs } from '../../../lib/day.ts'

/** Idle time after which the console asks for the password again. */
export const idleMs = 120 * minuteMs

export const sessionPath = '/console/session'

/** Returns the name of the cookie. It contains the port, because ports of one machine share cookies. */
export const cookieName = ({ isSecure, port }: { isSecure: boolean; port: string }): string =>
  isSecure ? '__Secure-souk_console' : `souk_console_${port}`

/** Parts of the console whose menu entries are hidden until they are used. */
export const features = ['LENDING', 'TRUST', 'RANKINGS', 'AGENTS'] as const
export type Feature = (typeof features)[number]

/** The subject of setup tokens. */
export const setupSubject = 'instance'
