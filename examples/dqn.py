"""Learns to balance a pole on a cart by deep Q-learning; the cart is simulated here.

    python examples/dqn.py [--episodes 200] [--seed 1]

The network foretells how much reward will follow a push to the left or right. It learns from a memory
of moves, towards what a copy of itself, renewed now and then, expects of the state that followed.
"""

import argparse
import math
import random
from collections import deque

import numpy as np
from progress import Bar

import tapeflow as tf

LONGEST = 200  # moves; an episode that lasts so long is won


class Cart:
    """A pole hinged on a cart: position, speed, the pole's angle and its speed."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        self.moves = 0
        return self.state

    def push(self, action):
        """Pushes left (0) or right (1) for 20 ms; returns the state, and whether the pole fell."""
        _, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        sin, cos = math.sin(angle), math.cos(angle)
        shove = (force + 0.05 * spin**2 * sin) / 1.1
        twist = (9.8 * sin - cos * shove) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        slide = shove - 0.05 * twist * cos / 1.1
        self.state = self.state + 0.02 * np.array([v, slide, spin, twist])
        self.moves += 1
        return self.state, abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)


def network():
    """States (n, 4) -> the rewards to come (n, 2) after each of both pushes."""
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(64, "relu", input_shape=(4,)),
            tf.keras.layers.Dense(64, "relu"),
            tf.keras.layers.Dense(2),
        ]
    )


class Agent:
    def __init__(self, rate=1e-3, discount=0.98):
        self.model, self.target = network(), network()
        self.discount = discount
        self.optimizer = tf.keras.optimizers.Adam(rate)
        self.huber = tf.keras.losses.Huber()
        self.learned = 0
        self.memory = deque(maxlen=20_000)
        self.renew()

    def renew(self):
        self.target.set_weights(self.model.get_weights())

    @tf.function
    def values(self, states):
        return self.model(states)

    def act(self, state, boldness):
        if random.random() < boldness:
            return random.randrange(2)
        return int(np.argmax(self.values(tf.constant(state[None], tf.float32)).numpy()[0]))

    @tf.function
    def learn(self, states, actions, nexts, fell):
        best = tf.reduce_max(self.target(nexts), 1)
        wanted = 1.0 + self.discount * (1.0 - fell) * best
        with tf.GradientTape() as tape:
            values = tf.reduce_sum(self.model(states) * tf.one_hot(actions, 2), 1)
            loss = self.huber(wanted, values)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss

    def remember_and_learn(self, move, batch=64):
        self.memory.append(move)
        if len(self.memory) < 4 * batch:
            return
        states, actions, nexts, fell = zip(*random.sample(self.memory, batch))
        self.learn(
            tf.constant(np.array(states), tf.float32),
            tf.constant(actions, tf.int32),
            tf.constant(np.array(nexts), tf.float32),
            tf.constant(fell, tf.float32),
        )
        self.learned += 1
        if self.learned % 200 == 0:
            self.renew()


def episode(cart, agent, boldness, learning):
    """Plays until the pole falls or the episode is won; returns the number of moves."""
    state = cart.reset()
    while cart.moves < LONGEST:
        action = agent.act(state, boldness)
        following, fell = cart.push(action)
        if learning:
            agent.remember_and_learn((state, action, following, fell))
        if fell:
            break
        state = following
    return cart.moves


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    random.seed(options.seed)
    cart, agent = Cart(np.random.default_rng(options.seed)), Agent()
    played = []
    for i in (bar := Bar(options.episodes, "playing")):
        played.append(episode(cart, agent, max(0.02, 0.98**i), True))
        bar.say(f"the pole stood for {np.mean(played[-10:]):5.1f} moves")
    balanced = [episode(cart, agent, 0.0, False) for _ in range(10)]
    print(f"moves {np.mean(played[:10]):.1f} -> {np.mean(balanced):.1f} of {LONGEST}")


if __name__ == "__main__":
    main()
