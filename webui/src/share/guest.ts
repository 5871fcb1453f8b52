/**
 * A link shows this same page below a path of its own, /t/ID/, to a guest: only what is shared, in the role of the link.
 * The server decides what the guest may do; the page leaves out what would be refused.
 */
const PATH = /\/t\/[A-Z2-7]{26}\/$/;

/** isGuest reports whether a link has opened this page. */
export const isGuest = (): boolean => PATH.test(location.pathname);
