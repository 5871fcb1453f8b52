/** Line icons drawn from one path each; they take the colour of their text and are hidden from screen readers. */
const paths = {
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2 4h12M2 8h12M2 12h12",
  plus: "M8 3v10M3 8h10",
  share: "M8 10V2M5 4.5L8 1.5l3 3M4 7.5H3v6.5h10V7.5h-1",
  search: "M7 12a5 5 0 1 1 0-10 5 5 0 0 1 0 10zM10.8 10.8L14 14",
  size: "M2 6V2h4M14 10v4h-4M2 2l4.5 4.5M14 14l-4.5-4.5",
  up: "M4 10l4-4 4 4",
  down: "M4 6l4 4 4-4",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
  lock: "M4 7h8v6H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM6.8 14h2.4",
} as const;

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
