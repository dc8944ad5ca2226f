/** What somebody may be in a shop; contract, section 4a. Whoever opened the shop is its first owner. */
export const staffRoles = ['OWNER', 'MANAGER', 'FULFILMENT', 'READ_ONLY'] as const
export type StaffRole = (typeof staffRoles)[number]

/** Who may do what is the owner's alone; all the others' too; and what each of the narrow roles may besides. */
export const owners = ['OWNER'] as const satisfies readonly StaffRole[]
export const managers = ['OWNER', 'MANAGER'] as const satisfies readonly StaffRole[]
export const fulfillers = ['OWNER', 'MANAGER', 'FULFILMENT'] as const satisfies readonly StaffRole[]
export const readers = ['OWNER', 'MANAGER', 'READ_ONLY'] as const satisfies readonly StaffRole[]
