/** Returns a number with its noun: "1 row", "1,200 rows". */
export const countText = (count: number, noun: string): string => `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
