/** Roles of staff. The merchant who opens a shop is its first owner. */
export const staffRoles = ['OWNER', 'MANAGER', 'FULFILMENT', 'READ_ONLY'] as const
/** A person's role in a shop. */
export type StaffRole = (typeof staffRoles)[number]

/** Roles that may use a route: only owners, all managers, or also one of the narrow roles. */
export const owners = ['OWNER'] as const satisfies readonly StaffRole[]
export const managers = ['OWNER', 'MANAGER'] as const satisfies readonly StaffRole[]
export const fulfillers = ['OWNER', 'MANAGER', 'FULFILMENT'] as const satisfies readonly StaffRole[]
export const readers = ['OWNER', 'MANAGER', 'READ_ONLY'] as const satisfies readonly StaffRole[]
