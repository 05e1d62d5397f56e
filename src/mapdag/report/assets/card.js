// The card beside the pointer.

/** Show content in a card beside a spot of the window, or hide it. */
export function makeCard(card) {
  function show(content, near) {
    card.replaceChildren(...content.flat(Infinity).filter(Boolean));
    card.hidden = false;
    const gap = 12, w = card.offsetWidth, h = card.offsetHeight;
    const right = near.right + gap, left = near.left - gap - w;
    const cx = right + w < innerWidth ? right : left > 0 ? left : Math.max(gap, innerWidth - w - gap);
    const cy = Math.min(Math.max((near.top + near.bottom) / 2 - h / 2, gap), Math.max(gap, innerHeight - h - gap));
    card.style.left = `${cx}px`;
    card.style.top = `${cy}px`;
  }
  return { show, hide: () => { card.hidden = true; } };
}
